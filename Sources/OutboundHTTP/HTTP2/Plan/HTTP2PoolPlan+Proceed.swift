import NIOCore

/// What follows from the state and the time.
extension HTTP2PoolPlan {
    /// Does what can be done now; the actions say what. Called after what happened was reported, and at `nextTime`.
    mutating func proceed(at now: NIODeadline) {
        endExpired(at: now)
        for index in connections.indices.reversed() { look(at: index, at: now) }
        if shutdownEnd != nil { shutDown(at: now) }
        assign(at: now)
        closeIdle(at: now)
        closeDrained(at: now)
        while wantsAnother(at: now), takeTurn(at: now) { open(at: now) }
    }

    /// When `proceed` is to be called again, if nothing happens before; nil: never.
    mutating func nextTime(at now: NIODeadline) -> NIODeadline? {
        if isOver { return nil }
        let isWaiting = waiting > 0
        var next = min(requests.nextDeadline() ?? .distantFuture, shutdownEnd ?? .distantFuture)
        for connection in connections {
            if isWaiting { next = min(next, later(connection.began + Self.openingPatience, now)) }
            switch connection.state {
            case .resolving, .connecting, .settling:
                next = min(next, connection.openEnd)
            case .probing, .ready, .draining:
                next = min(next, connection.pingEnd ?? connection.heard + settings.pingAfter)
                guard connection.state != .draining else { continue }
                next = min(next, later(connection.ageEnd, now))
                if isWaiting { next = min(next, later(connection.refusalEnd, now)) }
                if let oldest = sent(connection) { next = min(next, oldest + settings.oldestUnanswered) }
            }
        }
        if connections.contains(where: \.isUsable) { next = min(next, idleCheck) }
        if needsAnother(at: now) { next = min(next, max(breakers.end, nextTurn)) }
        return next < .distantFuture ? next : nil
    }

    /// What has passed is no reason to be called again.
    private func later(_ instant: NIODeadline, _ now: NIODeadline) -> NIODeadline {
        instant > now ? instant : .distantFuture
    }

    /// When the oldest request of a connection was sent.
    private func sent(_ connection: Connection) -> NIODeadline? {
        connection.requests.isEmpty ? nil : requests[connection.requests.first].sent
    }

    // MARK: - Requests

    private mutating func endExpired(at now: NIODeadline) {
        while let slot = requests.expired(at: now) {
            guard let index = index(of: requests[slot].connection) else {
                end(slot, waitedInVain())
                continue
            }
            usage.unanswered += 1
            if now - requests[slot].sent >= Self.leastPatience { connections[index].unanswered += 1 }
            end(slot, OutboundFailure(.timedOut, "\(host): \(OutboundPhase.head.rawValue)"))
        }
    }

    /// Why a request was not sent before its deadline.
    private func waitedInVain() -> OutboundFailure {
        guard let openFailure, !connections.contains(where: \.isUsable) else {
            return OutboundFailure(.timedOut, "\(host): \(OutboundPhase.waiting.rawValue)")
        }
        return openFailure
    }

    /// Gives those that wait to connections, by priority.
    private mutating func assign(at now: NIODeadline) {
        for priority in HTTP2Request.Priority.allCases {
            while !queues[priority.rawValue].isEmpty {
                guard let index = freest(for: priority, at: now) else { break }
                send(queues[priority.rawValue].first, over: index, at: now)
            }
        }
        peak = max(peak, requests.count)
    }

    /// The connection with the most free streams.
    private func freest(for priority: HTTP2Request.Priority, at now: NIODeadline) -> Int? {
        var (best, most): (Int?, Int) = (nil, 0)
        for index in connections.indices {
            let free = connections[index].free(for: priority, reservedShare: settings.reservedShare, at: now)
            if free > most { (best, most) = (index, free) }
        }
        return best
    }

    private mutating func send(_ slot: Int, over index: Int, at now: NIODeadline) {
        guard let request = requests.request(in: slot) else { return }
        requests.remove(slot, from: &queues[requests[slot].priority.rawValue])
        requests.append(slot, to: &connections[index].requests)
        let (id, stream) = (connections[index].id, connections[index].nextStream)
        (requests[slot].connection, requests[slot].stream, requests[slot].sent) = (id, stream, now)
        connections[index].nextStream += 2
        connections[index].window -= requests[slot].size
        actions.append(.send(request, requests.number(of: slot), id, stream: stream))
        if stream >= Connection.lastStream { retire(index, .exhausted) }
    }

    // MARK: - Connections

    /// What time does to a connection.
    private mutating func look(at index: Int, at now: NIODeadline) {
        let connection = connections[index]
        if connection.isOpening {
            guard connection.openEnd <= now else { return }
            let phase =
                switch connection.state {
                case .resolving: OutboundPhase.resolving.rawValue
                case .connecting: OutboundPhase.connecting.rawValue
                default: "waiting for the first SETTINGS"
                }
            return close(index, .silent, OutboundFailure(.timedOut, "\(host): \(phase)"), at: now)
        }
        if let end = connection.pingEnd, end <= now {
            blame(index, at: now)
            return close(index, .silent, OutboundFailure(.disconnected, "\(host): no answer to a PING"), at: now)
        }
        if connection.pingEnd == nil, connection.heard + settings.pingAfter <= now {
            connections[index].pingEnd = now + settings.pingTimeout
            actions.append(.ping(connection.id))
        }
        guard connection.state != .draining else { return }
        let isStuck = sent(connection).map { $0 + settings.oldestUnanswered <= now } ?? false
        if isStuck || connection.unanswered >= settings.unansweredInARow {
            retire(index, .unanswered)
            blame(index, at: now)
        } else if connection.ageEnd <= now, connection.requests.isEmpty || hasYounger(at: now) {
            retire(index, .age)
        }
    }

    private func hasYounger(at now: NIODeadline) -> Bool { connections.contains { $0.isUsable && $0.ageEnd > now } }

    /// Closes connections that the requests of the last time did not need.
    private mutating func closeIdle(at now: NIODeadline) {
        guard idleCheck <= now else { return }
        idleCheck = now + settings.idleTimeout
        let usable = connections.indices.filter { connections[$0].isUsable }
        let streams = usable.map { connections[$0].allowance - connections[$0].reserved(settings.reservedShare) }
        let least = max(1, streams.min() ?? 1)
        let needed = max(settings.keptConnections, (peak + least - 1) / least)
        peak = requests.count
        let surplus = usable.sorted { connections[$0].requests.count < connections[$1].requests.count }
            .prefix(max(0, usable.count - needed))
        for index in surplus { retire(index, .idle) }
    }

    private mutating func closeDrained(at now: NIODeadline) {
        for index in connections.indices.reversed()
        where connections[index].state == .draining && connections[index].requests.isEmpty {
            actions.append(.close(connections[index].id))
            actions.append(.note(.closed(connections[index].id)))
            connections.remove(at: index)
        }
    }

    private mutating func shutDown(at now: NIODeadline) {
        for queue in queues {
            for slot in requests.slots(of: queue) { end(slot, .closed) }
        }
        let hasPassed = shutdownEnd.map { $0 <= now } ?? false
        for index in connections.indices.reversed() {
            if hasPassed || connections[index].isOpening {
                close(index, .shutdown, .closed, at: now)
            } else {
                retire(index, .shutdown)
            }
        }
    }

    /// The pool now.
    func snapshot() -> HTTP2PoolUsage {
        var usage = usage
        usage.waiting = waiting
        usage.inFlight = requests.count - usage.waiting
        for connection in connections {
            usage.streams += connection.allowance
            switch connection.state {
            case .resolving, .connecting, .settling: usage.opening += 1
            case .probing, .ready: usage.ready += 1
            case .draining: usage.draining += 1
            }
        }
        return usage
    }

    // MARK: - Opening

    /// Whether a connection is to be opened as soon as one may be.
    private func needsAnother(at now: NIODeadline) -> Bool {
        guard shutdownEnd == nil else { return false }
        var (opening, usable, supply, demand) = (0, 0, 0, waiting)
        var isAged = false
        for connection in connections where connection.state != .draining {
            demand += connection.requests.count
            supply += expected(connection, at: now)
            if connection.isOpening {
                opening += 1
            } else if connection.ageEnd > now {
                usable += 1
            } else {
                isAged = true
            }
        }
        // Those that drain or are to be replaced do not count: they may wait long, while the others have to do their work.
        guard opening + usable < settings.connections, connections.count < 2 * settings.connections else {
            return false
        }
        return waiting > 0 && demand > supply || isAged && opening == 0 && !hasYounger(at: now)
    }

    private func wantsAnother(at now: NIODeadline) -> Bool { needsAnother(at: now) && breakers.end <= now }

    /// How many requests a connection serves, or will soon serve, at one time.
    private func expected(_ connection: Connection, at now: NIODeadline) -> Int {
        // A server may need a moment to allow more streams than one.
        let early = now < connection.began + Self.openingPatience ? expectedStreams : 0
        switch connection.state {
        case .resolving, .connecting, .settling: return early
        case .probing: return max(expectedStreams, connection.maxStreams)
        case .ready:
            guard connection.ageEnd > now else { return 0 }
            return max(early, connection.allowance - connection.reserved(settings.reservedShare))
        case .draining: return 0
        }
    }

    /// When the rates allow a connection to begin.
    private var nextTurn: NIODeadline { max(rate.next, sharedRate?.next ?? .distantPast) }

    private mutating func takeTurn(at now: NIODeadline) -> Bool {
        guard rate.next <= now, sharedRate?.take(at: now) ?? true else { return false }
        return rate.take(at: now)
    }

    private mutating func open(at now: NIODeadline) {
        lastConnection += 1
        let id = HTTP2ConnectionID(number: lastConnection)
        let streams = min(settings.streams, Connection.initialStreams)
        let connection = Connection(id, maxStreams: streams, at: now, openEnd: now + settings.openTimeout)
        connections.append(connection)
        actions.append(.resolve(id, by: connection.openEnd))
    }
}
