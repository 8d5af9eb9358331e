/// Which offsets of the assigned partitions may be committed: the low water mark of the events whose every record is
/// acknowledged. A value that does no I/O.
///
/// Events of a partition come in order of their offsets, their acknowledgements in any order. Each event that waits for
/// acknowledgements has a slot, whose number travels as the tag of its records; a slot is used again once its event is done.
struct OffsetTracker<Partition: Hashable> {
    /// What was read of one partition and is not yet below its low water mark.
    private struct Window {
        /// In the order of offsets; those before `head` are below the mark.
        private var events: [(offset: Int64, isDone: Bool)] = []
        private var head = 0
        /// How many were ever removed from the array, so that a slot can find its event.
        private var removed = 0
        /// The next offset to read, as of everything read so far.
        var next: Int64
        var committed: Int64
        let generation: UInt64

        init(first offset: Int64, generation: UInt64) {
            next = offset
            // Nothing below the first offset read is ours to commit, so the mark begins there as if committed.
            committed = offset
            self.generation = generation
        }

        var lowWaterMark: Int64 { head < events.count ? events[head].offset : next }

        var count: Int { events.count - head }

        /// - Returns: The event's number, for ``finish(_:)``.
        mutating func append(_ offset: Int64, isDone: Bool) -> Int {
            next = offset + 1
            events.append((offset, isDone))
            trim()
            return removed + events.count - 1
        }

        mutating func finish(_ event: Int) {
            events[event - removed].isDone = true
            trim()
        }

        private mutating func trim() {
            while head < events.count && events[head].isDone { head += 1 }
            if head == events.count || (head >= 1_024 && head * 2 >= events.count) {
                events.removeFirst(head)
                removed += head
                head = 0
            }
        }
    }

    private struct Slot {
        var partition: Partition
        var generation: UInt64
        var event: Int
        let offset: Int64
        var remaining: Int
    }

    private var windows: [Partition: Window] = [:]
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var lastGeneration: UInt64 = 0

    /// Events read and not done, over all partitions.
    private(set) var waiting = 0

    init() {}

    /// An event that leaves nothing to wait for: skipped.
    mutating func finish(_ partition: Partition, offset: Int64) {
        open(partition, offset)
        _ = windows[partition]?.append(offset, isDone: true)
    }

    /// An event with records on their way.
    ///
    /// - Parameter records: At least one.
    /// - Returns: The tag for each of them.
    mutating func begin(_ partition: Partition, offset: Int64, records: Int) -> UInt {
        open(partition, offset)
        let event = windows[partition]?.append(offset, isDone: false) ?? 0
        let slot = Slot(
            partition: partition,
            generation: generation(of: partition),
            event: event,
            offset: offset,
            remaining: records
        )
        waiting += 1
        if let free = freeSlots.popLast() {
            slots[free] = slot
            return UInt(free)
        }
        slots.append(slot)
        return UInt(slots.count - 1)
    }

    /// One record of an event is acknowledged, or will never be sent because its partition is gone.
    mutating func acknowledge(_ tag: UInt) {
        let index = Int(tag)
        guard index < slots.count, slots[index].remaining > 0 else { return }
        slots[index].remaining -= 1
        guard slots[index].remaining == 0 else { return }
        freeSlots.append(index)
        waiting -= 1
        let slot = slots[index]
        // A partition that left and came back has another generation: this report is about records it no longer counts.
        guard generation(of: slot.partition) == slot.generation else { return }
        windows[slot.partition]?.finish(slot.event)
    }

    /// Offsets to commit (the next to read), of partitions where there is something new.
    func committable(of partitions: Set<Partition>? = nil) -> [Partition: Int64] {
        var result: [Partition: Int64] = [:]
        for (partition, window) in windows where partitions?.contains(partition) ?? true {
            let mark = window.lowWaterMark
            if mark > window.committed { result[partition] = mark }
        }
        return result
    }

    /// Notes what was committed.
    mutating func committed(_ offsets: [Partition: Int64]) {
        for (partition, offset) in offsets {
            guard let before = windows[partition]?.committed, before < offset else { continue }
            windows[partition]?.committed = offset
        }
    }

    /// The next offset to read, for lag.
    func position(of partition: Partition) -> Int64? {
        windows[partition]?.next
    }

    /// Whether the event of a tag is still counted.
    func isCurrent(_ tag: UInt) -> Bool {
        let index = Int(tag)
        guard index < slots.count, slots[index].remaining > 0 else { return false }
        return generation(of: slots[index].partition) == slots[index].generation
    }

    /// The event of a tag that is still waited for.
    func event(of tag: UInt) -> (partition: Partition, offset: Int64)? {
        isCurrent(tag) ? (slots[Int(tag)].partition, slots[Int(tag)].offset) : nil
    }

    /// Events that are read and not below their low water mark, over all partitions.
    var uncommittable: Int {
        windows.values.reduce(0) { $0 + $1.count }
    }

    /// The low water marks, whether committed or not.
    func lowWaterMarks(of partitions: Set<Partition>? = nil) -> [Partition: Int64] {
        var result: [Partition: Int64] = [:]
        for (partition, window) in windows where partitions?.contains(partition) ?? true {
            result[partition] = window.lowWaterMark
        }
        return result
    }

    /// The partitions left: what is still on its way for them no longer counts.
    mutating func drop(_ partitions: Set<Partition>) {
        for partition in partitions { windows[partition] = nil }
    }

    private mutating func open(_ partition: Partition, _ offset: Int64) {
        guard windows[partition] == nil else { return }
        lastGeneration += 1
        windows[partition] = Window(first: offset, generation: lastGeneration)
    }

    private func generation(of partition: Partition) -> UInt64 {
        windows[partition]?.generation ?? 0
    }
}
