import HeapModule
import NotificationModel

/// The due times of slots, earliest first, and of those at one instant the urgent ones. Moving or disarming a slot leaves its
/// alarm stale; `next` drops a stale alarm when it reaches the front.
struct Alarms {
    struct Alarm: Comparable {
        var due: Timestamp
        var isUrgent = false
        var slot: EntryIndex.Slot

        static func < (a: Self, b: Self) -> Bool {
            guard a.due == b.due, a.isUrgent == b.isUrgent else {
                return a.due == b.due ? a.isUrgent : a.due < b.due
            }
            return a.slot < b.slot
        }
    }

    private var heap = Heap<Alarm>()
    /// Slots with a current alarm.
    private(set) var count = 0
    private var stale = 0

    /// Whether most alarms are stale. Rebuilding then bounds the heap to about twice the armed slots, however often
    /// requests are replaced.
    var isStale: Bool { stale > count + 1024 }

    mutating func insert(_ alarm: Alarm) {
        count += 1
        heap.insert(alarm)
    }

    /// The alarm of a slot is no longer current.
    mutating func invalidate() {
        count -= 1
        stale += 1
    }

    mutating func rebuild(_ current: [Alarm]) {
        heap = Heap(current)
        (count, stale) = (current.count, 0)
    }

    /// The earliest current alarm.
    mutating func next(_ isCurrent: (Alarm) -> Bool) -> Alarm? {
        while let alarm = heap.min {
            if isCurrent(alarm) { return alarm }
            heap.removeMin()
            stale -= 1
        }
        return nil
    }
}
