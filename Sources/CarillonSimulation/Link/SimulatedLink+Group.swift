import Kafka
import NotificationConsumer
import NotificationModel

/// The group member: it joins, reacts to the answers to its heartbeats, and leaves.
extension SimulatedLink {
    func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping (_ partitions: [Int32], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws {
        _ = enter(.subscribe)
        try checkAlive()
        (self.onAssign, self.onRevoke) = (onAssign, onRevoke)
        join()
    }

    private func join() {
        if !isMember {
            joins += 1
            memberID = "\(name)-\(joins)"
            isMember = true
        }
        note("joins the group as \(memberID)")
        group.join(memberID)
    }

    /// Sends a heartbeat if one is due, and calls the hooks for its answer.
    func followGroup() throws {
        guard onAssign != nil, !isInHook, !broker.isAway, timeline.now >= nextHeartbeat else { return }
        isInHook = true
        defer { isInHook = false }
        guard !hasNoCoordinator else { return try giveUpSession() }
        guard isMember else { return join() }
        switch group.standing(of: memberID) {
        case .stable(let generation, let partitions):
            nextHeartbeat = timeline.now + configuration.heartbeatInterval
            guard generation != self.generation else { return }
            self.generation = generation
            try assign(partitions)
        case .mustRejoin:
            revoke(lost: false)
            try checkAlive()
            if group.standing(of: memberID) == .unknown { isMember = false }
            join()
        case .waiting:
            nextHeartbeat = timeline.now
        case .unknown:
            revoke(lost: true)
            try checkAlive()
            isMember = false
            join()
        }
    }

    private func assign(_ partitions: [Int32]) throws {
        note("is assigned \(partitions) in generation \(generation)")
        broker.noteActivity()
        owned = partitions
        (isReadingPaused, pausedInputs) = (false, [])
        do {
            let starts = try onAssign?(partitions) ?? [:]
            positions = starts.reduce(into: [:]) { $0[$1.key] = rewrite(start: $1.value, of: $1.key) }
        } catch {
            owned = []
            throw error
        }
        try checkAlive()
    }

    private func revoke(lost: Bool) {
        guard !owned.isEmpty else { return }
        note("\(lost ? "lost" : "gives up") \(owned)")
        onRevoke?(owned, lost, now.advanced(by: .microseconds(configuration.revokeBudget)))
        owned = []
        positions = [:]
    }

    /// Whether the group does not get this member's heartbeats, or has rebalanced since the last one.
    var isOutOfTouch: Bool {
        guard !isDead, !isClosed, onAssign != nil else { return false }
        guard isMember, !hasNoCoordinator else { return true }
        guard case .stable(let generation, _) = group.standing(of: memberID) else { return true }
        return generation != self.generation
    }

    // MARK: - Broken connection to the coordinator

    var hasNoCoordinator: Bool { timeline.now < noCoordinatorUntil }

    /// Breaks this member's connection to the group coordinator for a number of microseconds, while the connections of its
    /// producer and to the partition leaders work.
    func loseCoordinator(for microseconds: Int64) {
        guard isMember, !isDead, !isClosed else { return }
        note("has no connection to the group coordinator for \(microseconds) us")
        group.stopHeartbeats(memberID)
        // As in librdkafka, the session counts from the last answered heartbeat.
        if !hasNoCoordinator {
            sessionEnd =
                timeline.now + GroupCoordinator.sessionTimeout - random.number(0...configuration.heartbeatInterval)
        }
        noCoordinatorUntil = max(noCoordinatorUntil, timeline.now + microseconds)
        timeline.add(at: noCoordinatorUntil) { [weak self] in self?.regainCoordinator() }
    }

    /// The connection works again. A client that has given up its session sends nothing more under its old member id.
    private func regainCoordinator() {
        if isMember, !isDead, !isClosed, !hasNoCoordinator, !process.isPaused { group.sendHeartbeats(memberID) }
    }

    /// Ends all faults.
    func calm() {
        faults.calm()
        guard hasNoCoordinator else { return }
        noCoordinatorUntil = timeline.now
        regainCoordinator()
    }

    /// Waits for the consumer's connection to the group coordinator; the producer has its own.
    func awaitCoordinator(within time: Duration) throws(KafkaError) {
        guard hasNoCoordinator else { return }
        pass(time.microseconds) { !hasNoCoordinator }
        try checkAlive()
        guard !hasNoCoordinator else { throw .noReply }
    }

    /// A client that gets no answer for the session timeout gives up its partitions as lost.
    private func giveUpSession() throws {
        guard isMember, timeline.now >= sessionEnd else { return }
        revoke(lost: true)
        try checkAlive()
        isMember = false
    }

    // MARK: - The end

    func close(within time: Duration) {
        guard !isClosed else { return }
        _ = enter(.close)
        if !isDead, isMember {
            let standing = group.standing(of: memberID)
            isInHook = true
            revoke(lost: hasNoCoordinator ? timeline.now >= sessionEnd : standing == .unknown)
            if !isDead {
                if broker.isAway || hasNoCoordinator {
                    group.stopHeartbeats(memberID)
                } else {
                    group.leave(memberID)
                }
            }
        }
        (onAssign, onRevoke) = (nil, nil)
        isMember = false
        isClosed = true
        if !isDead { producer.close() }
    }
}
