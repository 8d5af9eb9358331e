import Kafka
import NotificationConsumer

/// The member of the group: it joins, follows what heartbeats tell, and leaves.
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

    /// What the heartbeats have told since the last call; hooks run here.
    func followGroup() throws {
        guard onAssign != nil, !isInHook, !broker.isAway, timeline.now >= nextHeartbeat else { return }
        isInHook = true
        defer { isInHook = false }
        guard !isUnheard else { return try giveUpSession() }
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
        isReadingPaused = false
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
        note("\(lost ? "lost" : "gives back") \(owned)")
        onRevoke?(owned, lost, now.advanced(by: .microseconds(configuration.revokeBudget)))
        owned = []
        positions = [:]
    }

    /// Whether the group does not hear from this member, or went on without it, which it learns with its next heartbeat.
    var isOutOfTouch: Bool {
        guard !isDead, !isClosed, onAssign != nil else { return false }
        guard isMember, !isUnheard else { return true }
        guard case .stable(let generation, _) = group.standing(of: memberID) else { return true }
        return generation != self.generation
    }

    // MARK: - Unheard

    var isUnheard: Bool { timeline.now < unheardUntil }

    /// The group does not hear from this member for so many microseconds: its connection to the coordinator is broken, while
    /// the producer's, and those to the leaders of partitions, are not.
    func beUnheard(for microseconds: Int64) {
        guard isMember, !isDead, !isClosed else { return }
        note("is not heard by the group for \(microseconds) us")
        group.fallSilent(memberID)
        // As librdkafka counts: from the last heartbeat that was answered.
        if !isUnheard {
            sessionEnd =
                timeline.now + GroupCoordinator.sessionTimeout - random.number(0...configuration.heartbeatInterval)
        }
        unheardUntil = max(unheardUntil, timeline.now + microseconds)
        timeline.add(at: unheardUntil) { [weak self] in self?.beHeard() }
    }

    /// The connection is there again.
    private func beHeard() {
        if !isDead, !isClosed, !isUnheard, !process.isPaused { group.speak(memberID) }
    }

    /// Nothing goes wrong any more.
    func calm() {
        faults.calm()
        guard isUnheard else { return }
        unheardUntil = timeline.now
        beHeard()
    }

    /// What the consumer asks the group's coordinator itself; what its producer asks goes another way.
    func awaitHearing(within time: Duration) throws(KafkaError) {
        guard isUnheard else { return }
        pass(time.microseconds) { !isUnheard }
        try checkAlive()
        guard !isUnheard else { throw .noReply }
    }

    /// Without an answer for the time of a session a client counts its partitions as lost.
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
            revoke(lost: isUnheard ? timeline.now >= sessionEnd : standing == .unknown)
            if !isDead {
                if broker.isAway || isUnheard {
                    group.fallSilent(memberID)
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
