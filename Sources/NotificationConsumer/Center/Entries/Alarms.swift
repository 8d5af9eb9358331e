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

    /// The earliest current alarm.
    mutating func next(_ isCurrent: (Alarm) -> Bool) -> Alarm? {
        guard let urgent = Self.first(of: &urgent, &stale, isCurrent) else {
            return Self.first(of: &others, &stale, isCurrent)
        }
        guard let other = Self.first(of: &others, &stale, isCurrent) else { return urgent }
        return min(urgent, other)
    }

    /// The current alarm to fire next: a mass that is late lets no urgent one wait.
    mutating func next(dueAt now: Timestamp, urgentOnly: Bool, _ isCurrent: (Alarm) -> Bool) -> Alarm? {
        if let alarm = Self.first(of: &urgent, &stale, isCurrent), alarm.due <= now { return alarm }
        guard !urgentOnly, let alarm = Self.first(of: &others, &stale, isCurrent), alarm.due <= now else { return nil }
        return alarm
    }

    private static func first(of heap: inout Heap<Alarm>, _ stale: inout Int, _ isCurrent: (Alarm) -> Bool) -> Alarm? {
        while let alarm = heap.min {
            if isCurrent(alarm) { return alarm }
            heap.removeMin()
            stale -= 1
        }
        return nil
    }
}
