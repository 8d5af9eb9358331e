import Kafka
import NotificationModel

/// The partitions that a lane owns, all by its current assignment, and how far their inputs were read.
struct OwnedPartitions {
    /// By number; nil where another member is the owner.
    private var partitions: [OwnedPartition?]
    /// The numbers of those that are owned, in order.
    private(set) var numbers: [Int32] = []
    /// The numbers of partitions whose timers wait until the backlog is read.
    private var catchingUp: Set<Int32> = []
    /// The numbers of partitions whose registrations are read before their requests and signals.
    private var devicesFirst: Set<Int32> = []
    /// The place of a record that is applied in pieces: a removal of all that a recipient has. Nothing is read meanwhile.
    private(set) var unfinished: InputPartition?
    /// The place in `numbers` of the partition whose timers fire first in this turn.
    private var firstToFire = 0
    private var areStoresHurried = false

    /// - Parameter count: the partitions of each input topic.
    init(count: Int32) {
        partitions = Array(repeating: nil, count: Int(count))
    }

    /// - Parameter number: One that exists.
    subscript(number: Int32) -> OwnedPartition? {
        get { partitions[Int(number)] }
        set { partitions[Int(number)] = newValue }
    }

    func exists(_ number: Int32) -> Bool { partitions.indices.contains(Int(number)) }

    func contains(_ number: Int32) -> Bool { exists(number) && partitions[Int(number)] != nil }

    // MARK: - Assignment

    /// All partitions of the assignment before were revoked.
    mutating func beginAssignment() {
        (numbers, unfinished) = ([], nil)
    }

    /// The partitions of the assignment are restored: from now on they are read and fire.
    mutating func completeAssignment(_ numbers: [Int32]) {
        self.numbers = numbers
        catchingUp = Set(numbers.filter { self[$0]?.isCatchingUp == true })
        devicesFirst = Set(numbers.filter { self[$0]?.readsDevicesFirst == true })
    }

    /// Takes a partition out; nil when it is not owned, as after a refused assignment.
    mutating func remove(_ number: Int32) -> OwnedPartition? {
        guard contains(number) else { return nil }
        catchingUp.remove(number)
        devicesFirst.remove(number)
        numbers.removeAll { $0 == number }
        if unfinished?.partition == number { unfinished = nil }
        return partitions[Int(number)].take()
    }

    // MARK: - Reading

    /// A record was applied. The next owner reads an unfinished one again, unless its last piece is applied before.
    mutating func noteRead(_ record: Intake.Record, in partition: OwnedPartition, isUnfinished: Bool) {
        partition.inputs[record.input].position = isUnfinished ? record.offset : record.offset + 1
        partition.isTouched = true
        if isUnfinished { unfinished = InputPartition(record.input, record.partition) }
    }

    /// A piece of the unfinished record was applied.
    mutating func notePiece(isLast: Bool) {
        guard let place = unfinished else { return }
        self[place.partition]?.isTouched = true
        guard isLast else { return }
        self[place.partition]?.inputs[place.input].position += 1
        unfinished = nil
    }

    var isCatchingUp: Bool { !catchingUp.isEmpty || !devicesFirst.isEmpty }

    /// What must not be read before registrations are.
    var afterDevices: Set<InputPartition> { Set(devicesFirst.flatMap(InputPartition.afterDevices)) }

    /// - Parameter lag: The records of an input still to be read after a position; nil when unknown.
    /// - Returns: what may be read from now on, because the registrations are read.
    mutating func endDevicesFirst(
        at now: ContinuousClock.Instant,
        lag: (InputPartition, _ position: Int64) -> Int64?
    ) -> Set<InputPartition> {
        var ready: Set<InputPartition> = []
        for number in devicesFirst {
            self[number]?.endDevicesFirst(at: now) { input, position in lag(InputPartition(input, number), position) }
            guard self[number]?.readsDevicesFirst != true else { continue }
            devicesFirst.remove(number)
            ready.formUnion(InputPartition.afterDevices(number))
        }
        return ready
    }

    /// Allows timers to fire where the backlog is read, or reading has stopped.
    ///
    /// - Parameter lag: The records of an input still to be read after a position; nil when unknown.
    mutating func endCatchUps(
        isReadingHeld: Bool,
        at now: ContinuousClock.Instant,
        lag: (InputPartition, _ position: Int64) -> Int64?
    ) {
        for number in catchingUp {
            self[number]?.endCatchUp(isReadingHeld: isReadingHeld, at: now) { input, position in
                lag(InputPartition(input, number), position)
            }
            if self[number]?.isCatchingUp != true { catchingUp.remove(number) }
        }
    }

    // MARK: - Timers

    /// Timers fire in another order than in the last turn: the bounds are for all together, so each partition comes first in
    /// its turn.
    mutating func rotateFiring() {
        firstToFire = firstToFire + 1 < numbers.count ? firstToFire + 1 : 0
    }

    /// The number of the partition whose timers fire at a place of this turn, one of the indices of `numbers`.
    func firing(at place: Int) -> Int32 { numbers[(firstToFire + place) % numbers.count] }

    /// Milliseconds from `now` until there is work without new input, at most `bound`.
    mutating func timeToNextWork(atMost bound: Int64, at now: Timestamp) -> Int64 {
        var time = bound
        for number in numbers {
            guard let next = self[number]?.nextWork() else { continue }
            time = min(time, max(0, next.rawValue - now.rawValue))
        }
        return time
    }

    // MARK: - Stores

    mutating func tendStores(at now: ContinuousClock.Instant) {
        for number in numbers { self[number]?.center.store.tend(at: now) }
    }

    /// At half of the bound of unwritten changes, the stores write without waiting for full batches: the bound is meant
    /// for a slow disk.
    mutating func hurryStores(unwritten: Int, bound: Int) {
        if unwritten < bound / 4 { areStoresHurried = false }
        guard unwritten >= bound / 2, !areStoresHurried else { return }
        areStoresHurried = true
        for number in numbers { self[number]?.center.store.beginFlush() }
    }

    /// Changes that the stores have not written.
    var unwritten: Int { numbers.reduce(0) { $0 + (self[$1]?.unwritten ?? 0) } }

    /// Entries that changed since the last cut.
    var dirtyCount: Int { numbers.reduce(0) { $0 + (self[$1]?.dirtyCount ?? 0) } }

    /// Why a store cannot write; nil when all can.
    var storeTrouble: String? {
        for number in numbers {
            if let trouble = self[number]?.storeTrouble { return "the disk store: \(trouble)" }
        }
        return nil
    }

    /// Whether a send has no outcome yet.
    var isAnySending: Bool { numbers.contains { (self[$0]?.inFlight ?? 0) > 0 } }
}
