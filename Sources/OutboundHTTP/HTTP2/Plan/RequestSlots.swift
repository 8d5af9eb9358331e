import HeapModule
import NIOCore

/// The number of a request in a plan: its slot, and how often that was used, so that a number is not used twice.
struct RequestNumber: Hashable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    fileprivate init(slot: Int, use: UInt32) { rawValue = UInt64(use) << 32 | UInt64(slot) }

    fileprivate var slot: Int { Int(rawValue & 0xFFFF_FFFF) }
    fileprivate var use: UInt32 { UInt32(rawValue >> 32) }
}

/// The requests of a plan. Each is in one list, from which it is removed in constant time: of those that wait, or of a
/// connection.
struct RequestSlots<Request> {
    /// Without the request, so that a copy counts nothing.
    struct Slot {
        /// Of the slot, from 1.
        fileprivate(set) var use: UInt32 = 0
        var priority = HTTP2Request.Priority.normal
        /// Bytes of the body.
        var size = 0
        var deadline = NIODeadline.distantFuture
        /// That has it; nil while it waits.
        var connection: HTTP2ConnectionID?
        /// On the connection.
        var stream = 0
        var sent = NIODeadline.distantPast
        fileprivate var next = -1
        fileprivate var previous = -1
    }

    /// Slots in an order.
    struct List {
        fileprivate(set) var first = -1
        fileprivate(set) var last = -1
        fileprivate(set) var count = 0
        /// How many of them have high priority.
        fileprivate(set) var urgent = 0

        var isEmpty: Bool { count == 0 }
    }

    private struct Deadline: Comparable {
        var instant: NIODeadline
        var number: RequestNumber

        static func < (one: Deadline, other: Deadline) -> Bool { one.instant < other.instant }
        static func == (one: Deadline, other: Deadline) -> Bool { one.instant == other.instant }
    }

    private var slots: [Slot] = []
    /// By slot; nil in a free one.
    private var requests: [Request?] = []
    private var free: [Int] = []
    /// With those of requests that have ended, up to twice as many as there are requests.
    private var deadlines = Heap<Deadline>()

    /// Requests that have no outcome.
    var count: Int { slots.count - free.count }

    subscript(slot: Int) -> Slot {
        get { slots[slot] }
        _modify { yield &slots[slot] }
    }

    /// - Returns: Nil in a free slot.
    func request(in slot: Int) -> Request? { requests[slot] }

    /// - Returns: Nil when the request has ended.
    func slot(of number: RequestNumber) -> Int? {
        let slot = number.slot
        guard slot < slots.count, slots[slot].use == number.use, requests[slot] != nil else { return nil }
        return slot
    }

    func number(of slot: Int) -> RequestNumber { RequestNumber(slot: slot, use: slots[slot].use) }

    /// - Returns: The slot, which is in no list.
    mutating func add(_ request: Request, _ priority: HTTP2Request.Priority, size: Int, by deadline: NIODeadline) -> Int
    {
        if free.isEmpty {
            free.append(slots.count)
            slots.append(Slot())
            requests.append(nil)
        }
        let slot = free.removeLast()
        requests[slot] = request
        slots[slot].use = max(1, slots[slot].use &+ 1)
        (slots[slot].priority, slots[slot].size, slots[slot].deadline) = (priority, size, deadline)
        deadlines.insert(Deadline(instant: deadline, number: number(of: slot)))
        return slot
    }

    /// Frees a slot that is in no list.
    mutating func remove(_ slot: Int) -> Request? {
        let request = requests[slot].take()
        slots[slot].connection = nil
        free.append(slot)
        if deadlines.count > 2 * count + 64 { forgetDeadlines() }
        return request
    }

    // MARK: - Lists

    mutating func append(_ slot: Int, to list: inout List) {
        (slots[slot].previous, slots[slot].next) = (list.last, -1)
        if list.last >= 0 { slots[list.last].next = slot } else { list.first = slot }
        list.last = slot
        note(slot, in: &list, 1)
    }

    mutating func prepend(_ slot: Int, to list: inout List) {
        (slots[slot].previous, slots[slot].next) = (-1, list.first)
        if list.first >= 0 { slots[list.first].previous = slot } else { list.last = slot }
        list.first = slot
        note(slot, in: &list, 1)
    }

    mutating func remove(_ slot: Int, from list: inout List) {
        let (previous, next) = (slots[slot].previous, slots[slot].next)
        if previous >= 0 { slots[previous].next = next } else { list.first = next }
        if next >= 0 { slots[next].previous = previous } else { list.last = previous }
        note(slot, in: &list, -1)
    }

    private func note(_ slot: Int, in list: inout List, _ change: Int) {
        list.count += change
        if slots[slot].priority == .high { list.urgent += change }
    }

    /// The slots of a list, the first one first.
    func slots(of list: List) -> [Int] {
        var found: [Int] = []
        found.reserveCapacity(list.count)
        var slot = list.first
        while slot >= 0 {
            found.append(slot)
            slot = slots[slot].next
        }
        return found
    }

    // MARK: - Deadlines

    /// The earliest deadline of a request.
    mutating func nextDeadline() -> NIODeadline? {
        while let first = deadlines.min {
            if slot(of: first.number) != nil { return first.instant }
            deadlines.removeMin()
        }
        return nil
    }

    /// A request whose deadline has passed; it does not come again.
    mutating func expired(at now: NIODeadline) -> Int? {
        guard let next = nextDeadline(), next <= now else { return nil }
        return slot(of: deadlines.removeMin().number)
    }

    private mutating func forgetDeadlines() {
        deadlines = Heap(deadlines.unordered.filter { slot(of: $0.number) != nil })
    }
}
