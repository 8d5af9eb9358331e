import Kafka

/// The next offset to read of a partition, as a group commits it.
typealias GroupOffset = (place: KafkaTopicPartition, offset: Int64)

/// One consumer group with the classic protocol, eager rebalancing and the `range` assignor. All its topics have the same
/// number of partitions. A rebalance is a round: members join, then get their partitions.
final class GroupCoordinator {
    private struct Member {
        /// Since when it sends no heartbeats; the group removes it after the session timeout.
        var silentSince: Int64?
        /// It has joined the current round.
        var hasJoined: Bool
        var generation: Int
        var assignment: [Int32] = []
    }

    private enum State: Equatable {
        /// Waits for members to join, at most until the deadline.
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
    /// When the current round may end at the earliest.
    private var earliest: Int64 = 0
    private(set) var generation = 0
    private var offsets: [KafkaTopicPartition: Int64] = [:]
    /// The number of partitions of each topic that the group reads.
    var partitions: Int32 = 0

    init(timeline: Timeline) {
        self.timeline = timeline
    }

    /// Sorted.
    var memberIDs: [String] { members.keys.sorted() }

    /// There is no rebalance, and every member sends heartbeats.
    var isQuiet: Bool { state == .stable && members.values.allSatisfy { $0.silentSince == nil } }

    func committed(_ place: KafkaTopicPartition) -> Int64? { offsets[place] }

    // MARK: - Members

    /// Joins the current round, or begins one.
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

    /// A member stops sending heartbeats until `sendHeartbeats`; the group removes it after the session timeout.
    func stopHeartbeats(_ id: String) {
        guard members[id] != nil, members[id]?.silentSince == nil else { return }
        let since = timeline.now
        members[id]?.silentSince = since
        timeline.add(after: Self.sessionTimeout) { [unowned self] in
            if members[id]?.silentSince == since { leave(id) }
        }
    }

    func sendHeartbeats(_ id: String) {
        members[id]?.silentSince = nil
    }

    /// The answer to a member's heartbeat.
    enum Standing: Equatable {
        /// The partitions are assigned; these are the member's.
        case stable(generation: Int, [Int32])
        /// The member must give up its partitions and join again.
        case mustRejoin
        /// The member has joined and waits for the others.
        case waiting
        /// The group has removed the member.
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

    /// An operator sets or deletes the offset of a partition, which is possible only while there are no members.
    func reset(_ place: KafkaTopicPartition, to offset: Int64?) {
        if members.isEmpty { offsets[place] = offset }
    }

    // MARK: - Rounds

    /// The topics have more partitions: the group leader notices, and all members join again.
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
