import HeapModule
import NotificationModel

/// The due times of slots: those of urgent notifications, and the others. Moving or disarming a slot leaves its alarm stale;
/// looking for the next one drops stale alarms at the front.
struct Alarms {
    struct Alarm: Comparable {
        var due: Timestamp
        var isUrgent = false
        var slot: EntryIndex.Slot

        static func < (a: Self, b: Self) -> Bool { a.due == b.due ? a.slot < b.slot : a.due < b.due }
    }

    private var urgent = Heap<Alarm>()
    private var others = Heap<Alarm>()
    /// Slots with a current alarm.
    private(set) var count = 0
    private var stale = 0

    /// Whether most alarms are stale. Rebuilding then bounds the heaps to about twice the armed slots, however often
    /// requests are replaced.
    var isStale: Bool { stale > count + 1024 }

    mutating func insert(_ alarm: Alarm) {
        count += 1
        if alarm.isUrgent { urgent.insert(alarm) } else { others.insert(alarm) }
    }

    /// The alarm of a slot is no longer current.
    mutating func invalidate() {
        count -= 1
        stale += 1
    }

    mutating func rebuild(_ current: [Alarm]) {
        (urgent, others) = (Heap(current.filter(\.isUrgent)), Heap(current.filter { !$0.isUrgent }))
        (count, stale) = (current.count, 0)
    }

    /// The earliest current alarm; of those at one instant the urgent one.
    mutating func next(_ isCurrent: (Alarm) -> Bool) -> Alarm? {
        let (urgent, other) = (nextUrgent(isCurrent), Self.first(of: &others, &stale, isCurrent))
        guard let urgent, let other else { return urgent ?? other }
        return urgent.due <= other.due ? urgent : other
    }

    /// The earliest current alarm of an urgent notification.
    mutating func nextUrgent(_ isCurrent: (Alarm) -> Bool) -> Alarm? { Self.first(of: &urgent, &stale, isCurrent) }

    private static func first(of heap: inout Heap<Alarm>, _ stale: inout Int, _ isCurrent: (Alarm) -> Bool) -> Alarm? {
        while let alarm = heap.min {
            if isCurrent(alarm) { return alarm }
            heap.removeMin()
            stale -= 1
        }
        return nil
    }
}
