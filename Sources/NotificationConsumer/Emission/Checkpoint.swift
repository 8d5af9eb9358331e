import ServiceSupport

/// The order in which a lane makes its work durable. Both guarantees go through it; only the last step differs, and what may go
/// on meanwhile.
///
/// 1. Every event and dead letter of the work so far is handed over and acknowledged (`draining`).
/// 2. What changed in the centres goes to `state` and is acknowledged (`entries`): all that is unfinished is in it.
/// 3. One marker a partition follows and is acknowledged (`markers`): the resume position, and how far timers may fire.
/// 4. The offsets of every partition that was written for are committed to the group (`committing`), even when they did not
///    move.
///
/// In `at-least-once` each step waits for the one before, and the lane works on meanwhile: work is counted in epochs, and a cut
/// closes one. Step 4 only shows lag. A crash repeats what came after the last acknowledged marker, under the same ids.
///
/// In `exactly-once` all four are one transaction, in which order means nothing: 1 to 3 are handed over together and
/// acknowledged together, the offsets go into the transaction, where they are the fence against an owner that was
/// replaced, and then it is committed. Nothing else is published meanwhile.
///
/// A value: it counts and decides, the lane does the I/O.
struct Checkpoint: Sendable {
    enum Action: Equatable, Sendable {
        case writeEntries(of: [Int32])
        case writeMarkers(of: [Int32])
        /// - Parameters:
        ///   - offsets: The next to read, of every input.
        ///   - of: Every partition that was written for.
        case commit(_ offsets: InputOffsets, of: [Int32])
    }

    private enum Phase: Equatable, Sendable {
        case collecting
        case draining
        case entries
        case markers
        case committing
    }

    /// Tells what a delivery report belongs to.
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
    /// Entries, or markers, that are not acknowledged yet.
    private var outstandingState = 0
    private var numbers: [Int32] = []
    private var offsets: InputOffsets = [:]

    init(_ guarantee: DeliveryGuarantee) {
        self.guarantee = guarantee
    }

    /// The tag of what is published now.
    var tag: Tag { Tag(rawValue: epoch) }

    /// True from a cut to its commit.
    var isUnderWay: Bool { phase != .collecting }

    /// Whether records and timers may be worked on now.
    var allowsWork: Bool { guarantee == .atLeastOnce || !isUnderWay }

    /// True when everything that was published is acknowledged and committed.
    var isSettled: Bool { phase == .collecting && outstandingOfEpoch == 0 }

    /// A record with the tag was handed to the producer.
    mutating func published(_ tag: Tag) {
        if tag.rawValue >= Tag.firstEpoch { outstandingOfEpoch += 1 } else { outstandingState += 1 }
    }

    /// What carried the tag is acknowledged.
    mutating func acknowledged(_ tag: Tag) {
        if tag.rawValue < Tag.firstEpoch {
            outstandingState -= 1
        } else if tag.rawValue == epoch {
            outstandingOfEpoch -= 1
        } else {
            outstandingOfCut -= 1
        }
    }

    /// Closes the epoch; the caller has taken the changes that go with it, and no cut is under way.
    ///
    /// - Parameter offsets: The next to read, of every input of the partitions that are written for.
    mutating func cut(_ offsets: InputOffsets) {
        guard phase == .collecting, !offsets.isEmpty else { return }
        self.offsets = offsets
        numbers = Set(offsets.keys.map(\.partition)).sorted()
        outstandingOfCut = outstandingOfEpoch
        outstandingOfEpoch = 0
        epoch += 1
        phase = .draining
    }

    /// The next step, once what it waits for is there; the caller performs it before it asks again.
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
