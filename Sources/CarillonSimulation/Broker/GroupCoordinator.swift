import Kafka

/// The next offset to read of a partition, as a group commits it.
typealias GroupOffset = (place: KafkaTopicPartition, offset: Int64)

/// One consumer group of the classic protocol over topics with equally many partitions: eager, `range`.
final class GroupCoordinator {
    private struct Member {
        /// Its process does not run; the group drops it when that lasts.
        var silentSince: Int64?
        /// It has joined the round that is under way.
        var hasJoined: Bool
        var generation: Int
        var assignment: [Int32] = []
    }

    private enum State: Equatable {
        /// Waits for members to join, at most to the deadline.
        case preparing(deadline: Int64, round: Int)
        case stable
    }

    /// Microseconds.
    static let sessionTimeout: Int64 = 10_000_000
    static let rebalanceTimeout: Int64 = 60_000_000
    /// How long the first joiners of a round wait for others.
    static let initialDelay: Int64 = 100_000

    private let timeline: Timeline
    private var members: [String: Member] = [:]
    private var state = State.stable
    private var round = 0
    /// When the round that is under way may end.
    private var earliest: Int64 = 0
    private(set) var generation = 0
    private var offsets: [KafkaTopicPartition: Int64] = [:]
    /// Of each topic that the group reads.
    var partitions: Int32 = 0

    init(timeline: Timeline) {
        self.timeline = timeline
    }

    /// Sorted.
    var memberIDs: [String] { members.keys.sorted() }

    /// No round is under way, and nobody is silent.
    var isQuiet: Bool { state == .stable && members.values.allSatisfy { $0.silentSince == nil } }

    func committed(_ place: KafkaTopicPartition) -> Int64? { offsets[place] }

    // MARK: - Members

    /// Joins the round that is under way, or begins one.
    func join(_ id: String) {
        if members[id] == nil {
            members[id] = Member(hasJoined: true, generation: -1)
            prepare(waiting: Self.initialDelay)
        } else {
            if state == .stable { prepare(waiting: 0) }
            members[id]?.hasJoined = true
        }
        completeIfAllJoined()
    }

    func leave(_ id: String) {
        guard members.removeValue(forKey: id) != nil else { return }
        if members.isEmpty { state = .stable } else { prepare(waiting: 0) }
        completeIfAllJoined()
    }

    /// A member's process stops; no heartbeat comes until `speak`, and after the session timeout the group goes on without it.
    func fallSilent(_ id: String) {
        guard members[id] != nil, members[id]?.silentSince == nil else { return }
        let since = timeline.now
        members[id]?.silentSince = since
        timeline.add(after: Self.sessionTimeout) { [unowned self] in
            if members[id]?.silentSince == since { leave(id) }
        }
    }

    func speak(_ id: String) {
        members[id]?.silentSince = nil
    }

    /// What a member's heartbeat answers.
    enum Standing: Equatable {
        /// The partitions are shared out; this is its part.
        case stable(generation: Int, [Int32])
        /// It must give its partitions back and join again.
        case mustRejoin
        /// It has joined and waits for the others.
        case waiting
        /// The group goes on without it.
        case unknown
    }

    func standing(of id: String) -> Standing {
        guard let member = members[id] else { return .unknown }
        if state != .stable { return member.hasJoined ? .waiting : .mustRejoin }
        return .stable(generation: member.generation, member.assignment)
    }

    // MARK: - Offsets

    /// - Throws: `.unknownMember`, `.illegalGeneration`.
    func check(_ id: String, generation: Int) throws(KafkaError) {
        guard members[id] != nil else { throw .unknownMember }
        guard generation == self.generation else { throw .illegalGeneration }
    }

    /// Commits offsets outside of a transaction.
    func commit(_ offsets: [GroupOffset], from id: String, generation: Int) throws(KafkaError) {
        try check(id, generation: generation)
        store(offsets)
    }

    func store(_ new: [GroupOffset]) {
        for (place, offset) in new { offsets[place] = offset }
    }

    /// Somebody sets the offset of a partition, or takes it away: possible only while there are no members.
    func reset(_ place: KafkaTopicPartition, to offset: Int64?) {
        if members.isEmpty { offsets[place] = offset }
    }

    // MARK: - Rounds

    /// The topics have more partitions: whoever shares them out notices, and all join again.
    func add(partitions count: Int32) {
        partitions = count
        if state == .stable, !members.isEmpty { prepare(waiting: 0) }
    }

    private func prepare(waiting: Int64) {
        guard state == .stable else { return }
        round += 1
        let (round, deadline) = (round, timeline.now + Self.rebalanceTimeout)
        state = .preparing(deadline: deadline, round: round)
        for id in memberIDs {
            let isNew = members[id]?.generation == -1
            members[id]?.hasJoined = isNew
        }
        timeline.add(at: deadline) { [unowned self] in
            guard state == .preparing(deadline: deadline, round: round) else { return }
            for id in memberIDs where members[id]?.hasJoined == false { members[id] = nil }
            complete()
        }
        earliest = timeline.now + waiting
        if waiting > 0 { timeline.add(after: waiting) { [unowned self] in completeIfAllJoined() } }
    }

    private func completeIfAllJoined() {
        guard state != .stable, timeline.now >= earliest, members.values.allSatisfy(\.hasJoined) else { return }
        complete()
    }

    private func complete() {
        generation += 1
        state = .stable
        let ids = memberIDs
        guard !ids.isEmpty else { return }
        let (share, rest) = Int(partitions).quotientAndRemainder(dividingBy: ids.count)
        var first = 0
        for (index, id) in ids.enumerated() {
            let count = share + (index < rest ? 1 : 0)
            members[id]?.assignment = (first..<first + count).map(Int32.init)
            members[id]?.generation = generation
            members[id]?.hasJoined = false
            first += count
        }
    }
}
