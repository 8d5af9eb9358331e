/// The order in which a lane makes its work durable (`at-least-once`):
///
/// 1. every event and dead letter of the records read so far is handed over and acknowledged (`draining`);
/// 2. one marker a partition is written to `state` and acknowledged (`marking`): the resume position;
/// 3. the group's offsets are committed, which only show lag.
///
/// A value: it counts and decides, the lane does the I/O. Work goes on while a checkpoint drains: records are counted
/// in epochs, and a cut closes one. A crash at any point repeats what came after the last acknowledged marker, under the
/// same event ids.
struct Checkpoint: Sendable {
    /// Next offsets to read, by partition.
    typealias Offsets = [Int32: Int64]

    enum Action: Equatable, Sendable {
        case writeMarkers(Offsets)
        case commit(Offsets)
    }

    private enum Phase: Equatable, Sendable {
        case collecting
        case draining(Offsets)
        case marking(Offsets, outstanding: Int)
    }

    /// Tells what a delivery report belongs to.
    struct Tag: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt
        static let marker = Tag(rawValue: 0)
        /// A marker written when a partition is taken over without one; no checkpoint waits for it.
        static let firstMarker = Tag(rawValue: .max)
    }

    private var phase = Phase.collecting
    private var epoch: UInt = 1
    private var outstandingOfEpoch = 0
    private var outstandingOfCut = 0
    /// Next offsets by partition number, -1 where nothing was read since the last cut.
    private var read: [Int64]

    init(partitions: Int) {
        read = Array(repeating: -1, count: partitions)
    }

    /// The tag of what is published now.
    var tag: Tag { Tag(rawValue: epoch) }

    /// True while a cut waits for acknowledgements.
    var isUnderWay: Bool { phase != .collecting }

    /// True when everything published is acknowledged and everything read is checkpointed.
    var isSettled: Bool {
        phase == .collecting && outstandingOfEpoch == 0 && !read.contains { $0 >= 0 }
    }

    /// A record was applied, and its events published.
    mutating func applied(_ offset: Int64, of partition: Int32) {
        read[Int(partition)] = offset + 1
    }

    /// A record with the current tag was handed to the producer.
    mutating func published() { outstandingOfEpoch += 1 }

    /// What carried the tag is acknowledged.
    mutating func acknowledged(_ tag: Tag) {
        if tag == .firstMarker {
            return
        } else if tag == .marker {
            if case .marking(let offsets, let outstanding) = phase {
                phase = .marking(offsets, outstanding: outstanding - 1)
            }
        } else if tag.rawValue == epoch {
            outstandingOfEpoch -= 1
        } else {
            outstandingOfCut -= 1
        }
    }

    /// Closes the epoch, when something was read since the last cut and no cut is under way.
    mutating func cut() {
        guard case .collecting = phase else { return }
        var offsets: Offsets = [:]
        for partition in read.indices where read[partition] >= 0 {
            offsets[Int32(partition)] = read[partition]
            read[partition] = -1
        }
        guard !offsets.isEmpty else { return }
        outstandingOfCut = outstandingOfEpoch
        outstandingOfEpoch = 0
        epoch += 1
        phase = .draining(offsets)
    }

    /// The next step, once what it waits for is there; the caller performs it before it asks again.
    mutating func next() -> Action? {
        switch phase {
        case .draining(let offsets) where outstandingOfCut == 0:
            phase = .marking(offsets, outstanding: offsets.count)
            return .writeMarkers(offsets)
        case .marking(let offsets, outstanding: 0):
            phase = .collecting
            return .commit(offsets)
        default:
            return nil
        }
    }

    /// Partitions that left: their positions are no longer ours to write.
    mutating func forget(_ partitions: Set<Int32>) {
        for partition in partitions { read[Int(partition)] = -1 }
        switch phase {
        case .collecting: break
        case .draining(let offsets): phase = .draining(offsets.filter { !partitions.contains($0.key) })
        case .marking(let offsets, let outstanding):
            phase = .marking(offsets.filter { !partitions.contains($0.key) }, outstanding: outstanding)
        }
    }
}
