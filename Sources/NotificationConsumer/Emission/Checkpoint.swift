import ServiceSupport

/// The order in which a lane makes its work durable. Both guarantees use it; they differ in the last step, and in what
/// may continue meanwhile.
///
/// 1. Every event and dead letter of the work so far is produced and acknowledged (`draining`).
/// 2. The changed entries are written to `state` and acknowledged (`entries`): they include everything unfinished.
/// 3. One marker per partition is written and acknowledged (`markers`): the resume position, and how far timers may
///    fire.
/// 4. The offsets of every partition in the checkpoint are committed to the group (`committing`), even when they did
///    not move.
///
/// In `at-least-once`, each step waits for the previous one, and the lane continues to work meanwhile: work is counted
/// in epochs, and a cut closes an epoch. The offsets of step 4 only show lag. A crash repeats the work since the last
/// acknowledged marker, with the same ids.
///
/// In `exactly-once`, all four steps are one transaction, whose internal order does not matter: steps 1 to 3 are
/// produced together and acknowledged together; the offsets are added to the transaction, where they fence off a
/// replaced owner; then it is committed. Nothing else is published meanwhile.
///
/// A value: it counts and decides; the lane does the I/O.
struct Checkpoint: Sendable {
    enum Action: Equatable, Sendable {
        case writeEntries(of: [Int32])
        case writeMarkers(of: [Int32])
        /// - Parameters:
        ///   - offsets: The next offset to read of every input.
        ///   - of: Every partition in the checkpoint.
        case commit(_ offsets: InputOffsets, of: [Int32])
    }

    private enum Phase: Equatable, Sendable {
        case collecting
        case draining
        case entries
        case markers
        case committing
    }

    /// Identifies what a delivery report belongs to.
    struct Tag: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt
        static let entry = Tag(rawValue: 0)
        static let marker = Tag(rawValue: 1)
        fileprivate static let firstEpoch: UInt = 2
    }

    let guarantee: DeliveryGuarantee
    private var phase = Phase.collecting
    private var epoch = Tag.firstEpoch
    private var outstandingOfEpoch = 0
    private var outstandingOfCut = 0
    /// The number of entries or markers that are not acknowledged yet.
    private var outstandingState = 0
    private var numbers: [Int32] = []
    private var offsets: InputOffsets = [:]

    init(_ guarantee: DeliveryGuarantee) {
        self.guarantee = guarantee
    }

    /// The tag of records published now.
    var tag: Tag { Tag(rawValue: epoch) }

    /// True from a cut to its commit.
    var isUnderWay: Bool { phase != .collecting }

    /// Whether records and timers may be processed now.
    var allowsWork: Bool { guarantee == .atLeastOnce || !isUnderWay }

    /// True when everything published is acknowledged and committed.
    var isSettled: Bool { phase == .collecting && outstandingOfEpoch == 0 }

    /// Counts a record with the tag that was passed to the producer.
    mutating func published(_ tag: Tag) {
        if tag.rawValue >= Tag.firstEpoch { outstandingOfEpoch += 1 } else { outstandingState += 1 }
    }

    /// Counts an acknowledged record with the tag.
    mutating func acknowledged(_ tag: Tag) {
        if tag.rawValue < Tag.firstEpoch {
            outstandingState -= 1
        } else if tag.rawValue == epoch {
            outstandingOfEpoch -= 1
        } else {
            outstandingOfCut -= 1
        }
    }

    /// Closes the epoch. The caller has already taken its changes, and no cut is in progress.
    ///
    /// - Parameter offsets: The next offset to read of every input of the partitions in the checkpoint.
    mutating func cut(_ offsets: InputOffsets) {
        guard phase == .collecting, !offsets.isEmpty else { return }
        self.offsets = offsets
        numbers = Set(offsets.keys.map(\.partition)).sorted()
        outstandingOfCut = outstandingOfEpoch
        outstandingOfEpoch = 0
        epoch += 1
        phase = .draining
    }

    /// The next step, once its precondition is met; the caller performs it before asking again.
    mutating func next() -> Action? {
        let isOne = guarantee == .exactlyOnce
        switch phase {
        case .draining where isOne || outstandingOfCut == 0:
            phase = .entries
            return .writeEntries(of: numbers)
        case .entries where isOne || outstandingState == 0:
            phase = .markers
            return .writeMarkers(of: numbers)
        case .markers where outstandingState == 0 && outstandingOfCut == 0:
            phase = .committing
            return .commit(offsets, of: numbers)
        case .committing:
            phase = .collecting
            return nil
        default:
            return nil
        }
    }
}
