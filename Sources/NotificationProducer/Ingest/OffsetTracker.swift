/// Determines which offsets of the assigned partitions may be committed: the low-water mark of the events whose records
/// are all acknowledged. A value without I/O.
///
/// Events of a partition arrive in offset order, their acknowledgements in any order. Each event that waits for
/// acknowledgements has a slot, whose number is the tag of its records; a finished event's slot is reused.
struct OffsetTracker<Partition: Hashable> {
    /// The events of one partition that are not below its low-water mark.
    private struct Window {
        /// In offset order; those before `head` are below the mark.
        private var events: [(offset: Int64, isDone: Bool)] = []
        private var head = 0
        /// The number of events removed from the array so far, so that a slot can find its event.
        private var removed = 0
        /// The next offset to read.
        var next: Int64
        var committed: Int64
        let generation: UInt64

        init(first offset: Int64, generation: UInt64) {
            next = offset
            // Offsets below the first one read belong to others; treat the start as committed.
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
    /// The tag of the first slot: tags from before a reset are never given again.
    private var firstTag: UInt = 0
    private var lastGeneration: UInt64 = 0

    /// Unfinished events, over all partitions.
    private(set) var waiting = 0

    init() {}

    /// An event without records: it is done at once.
    mutating func finish(_ partition: Partition, offset: Int64) {
        open(partition, offset)
        _ = windows[partition]?.append(offset, isDone: true)
    }

    /// An event with records in flight.
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
            return firstTag + UInt(free)
        }
        slots.append(slot)
        return firstTag + UInt(slots.count - 1)
    }

    /// One record of an event is acknowledged, or will never be sent because its partition was revoked.
    mutating func acknowledge(_ tag: UInt) {
        guard let index = index(of: tag) else { return }
        slots[index].remaining -= 1
        guard slots[index].remaining == 0 else { return }
        freeSlots.append(index)
        waiting -= 1
        let slot = slots[index]
        // A partition that was revoked and assigned again has a new generation: ignore reports of the old one.
        guard generation(of: slot.partition) == slot.generation else { return }
        windows[slot.partition]?.finish(slot.event)
    }

    /// Offsets to commit (the next to read), for partitions with progress.
    func committable(of partitions: Set<Partition>? = nil) -> [Partition: Int64] {
        var result: [Partition: Int64] = [:]
        for (partition, window) in windows where partitions?.contains(partition) ?? true {
            let mark = window.lowWaterMark
            if mark > window.committed { result[partition] = mark }
        }
        return result
    }

    /// Records committed offsets.
    mutating func committed(_ offsets: [Partition: Int64]) {
        for (partition, offset) in offsets {
            guard let before = windows[partition]?.committed, before < offset else { continue }
            windows[partition]?.committed = offset
        }
    }

    /// The next offset to read, for lag.
    var positions: [Partition: Int64] { windows.mapValues(\.next) }

    /// Whether the event of a tag still counts.
    func isCurrent(_ tag: UInt) -> Bool {
        guard let index = index(of: tag) else { return false }
        return generation(of: slots[index].partition) == slots[index].generation
    }

    /// The unfinished event of a tag.
    func event(of tag: UInt) -> (partition: Partition, offset: Int64)? {
        guard isCurrent(tag), let index = index(of: tag) else { return nil }
        return (slots[index].partition, slots[index].offset)
    }

    /// Events that were read and are not below their low-water mark, over all partitions.
    var uncommittable: Int {
        windows.values.reduce(0) { $0 + $1.count }
    }

    /// The low-water marks, committed or not.
    func lowWaterMarks(of partitions: Set<Partition>? = nil) -> [Partition: Int64] {
        var result: [Partition: Int64] = [:]
        for (partition, window) in windows where partitions?.contains(partition) ?? true {
            result[partition] = window.lowWaterMark
        }
        return result
    }

    /// Removes revoked partitions: their records in flight no longer count.
    mutating func drop(_ partitions: Set<Partition>) {
        for partition in partitions { windows[partition] = nil }
    }

    /// Forgets every event, when the transaction of all of them was aborted. A late report of one counts for none that follows.
    mutating func reset() {
        firstTag += UInt(slots.count)
        (windows, slots, freeSlots, waiting) = ([:], [], [], 0)
    }

    /// The slot of an event that is not finished.
    private func index(of tag: UInt) -> Int? {
        guard tag >= firstTag, tag - firstTag < UInt(slots.count) else { return nil }
        let index = Int(tag - firstTag)
        return slots[index].remaining > 0 ? index : nil
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
