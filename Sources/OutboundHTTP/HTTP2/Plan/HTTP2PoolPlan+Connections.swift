import NIOCore

/// What happens to connections.
extension HTTP2PoolPlan {
    /// The host has these addresses, which the policy allows.
    mutating func resolved(_ connection: HTTP2ConnectionID, _ addresses: [IPAddress], at now: NIODeadline) {
        guard let index = index(of: connection), connections[index].state == .resolving else { return }
        var counts: [IPAddress: Int] = [:]
        var tested: Set<IPAddress> = []
        for other in connections {
            guard let address = other.address else { continue }
            counts[address, default: 0] += 1
            if other.isOpening || other.state == .probing { tested.insert(address) }
        }
        let address = breakers.choose(
            among: addresses,
            connections: counts,
            tested: tested,
            at: now,
            random: random()
        )
        guard let address else {
            connections.remove(at: index)
            return
        }
        connections[index].state = .connecting
        connections[index].address = address
        actions.append(.note(.opening(connection, address)))
        actions.append(.connect(connection, address, by: connections[index].openEnd))
    }

    /// TCP and TLS are there.
    mutating func opened(_ connection: HTTP2ConnectionID, at now: NIODeadline) {
        guard let index = index(of: connection), connections[index].state == .connecting else { return }
        connections[index].state = .settling
        connections[index].heard = now
    }

    /// The server has sent SETTINGS.
    ///
    /// - Parameter maxStreams: SETTINGS_MAX_CONCURRENT_STREAMS; nil when it is not among them.
    mutating func settled(_ connection: HTTP2ConnectionID, maxStreams: Int?, at now: NIODeadline) {
        guard let index = index(of: connection) else { return }
        if let maxStreams = maxStreams.map({ min(settings.streams, $0) }) {
            connections[index].maxStreams = maxStreams
            connections[index].refusedStreams = nil
            // A server that begins with one, as APNs does, will allow more.
            if maxStreams > 1 { expectedStreams = maxStreams }
        }
        guard connections[index].state == .settling else { return }
        connections[index].state = .probing
        connections[index].ageEnd =
            now + settings.age - .nanoseconds(Int64(Double(settings.age.nanoseconds) * random() / 5))
        openFailure = nil
        usage.opened += 1
        if let address = connections[index].address { actions.append(.note(.ready(connection, address))) }
    }

    /// A WINDOW_UPDATE for the connection, or bytes that were not sent after all.
    mutating func windowUpdated(_ connection: HTTP2ConnectionID, by increment: Int) {
        guard let index = index(of: connection) else { return }
        connections[index].window += increment
    }

    mutating func writabilityChanged(_ connection: HTTP2ConnectionID, isWritable: Bool) {
        guard let index = index(of: connection) else { return }
        connections[index].isWritable = isWritable
    }

    /// The server has sent something: any frame shows that it lives.
    mutating func heard(_ connection: HTTP2ConnectionID, at now: NIODeadline) {
        guard let index = index(of: connection) else { return }
        connections[index].heard = now
        connections[index].pingEnd = nil
    }

    /// A GOAWAY: the server has not processed streams above the last one. There may be a second one with an earlier stream.
    mutating func goneAway(_ connection: HTTP2ConnectionID, _ goAway: HTTP2PoolEvent.GoAway, at now: NIODeadline) {
        guard let index = index(of: connection) else { return }
        actions.append(.note(.goAway(connection, goAway)))
        // A server that gives up what does not work yet, or because of an error, would do so again at once.
        if goAway.code != 0 || !connections[index].hasAnswered { blame(index, at: now) }
        guard !connections[index].isOpening else {
            let failure = OutboundFailure(.disconnected, "\(host): GOAWAY before the first SETTINGS")
            return close(index, .goAway, failure, at: now)
        }
        retire(index, .goAway)
        let unprocessed = requests.slots(of: connections[index].requests)
            .filter { requests[$0].stream > goAway.lastStream }
        for slot in unprocessed.reversed() { requeue(slot, from: index) }
        noteResent(unprocessed.count, index)
    }

    /// The caller wants no further request on this connection.
    mutating func retire(_ connection: HTTP2ConnectionID, _ reason: HTTP2PoolEvent.Retirement) {
        guard let index = index(of: connection), !connections[index].isOpening else { return }
        retire(index, reason)
    }

    /// The connection has closed, or could not be opened.
    ///
    /// - Parameter failure: Why.
    mutating func closed(_ connection: HTTP2ConnectionID, _ failure: OutboundFailure, at now: NIODeadline) {
        guard let index = index(of: connection) else { return }
        forget(index, .lost, failure, at: now)
    }

    /// The pool ends: what waits is not sent any more, what is sent may be answered until the deadline.
    mutating func shutdown(by deadline: NIODeadline) {
        shutdownEnd = min(deadline, shutdownEnd ?? deadline)
    }

    // MARK: - Inside

    mutating func retire(_ index: Int, _ reason: HTTP2PoolEvent.Retirement) {
        guard connections[index].state != .draining else { return }
        connections[index].state = .draining
        actions.append(.note(.retired(connections[index].id, reason)))
    }

    /// Blames the address of a connection that does not work, once.
    mutating func blame(_ index: Int, at now: NIODeadline) {
        guard let address = connections[index].address, !connections[index].isBlamed else { return }
        connections[index].isBlamed = true
        breakers.fail(address, at: now, jitter: random())
    }

    /// The first success makes it ready, each after a refusal allows one more stream.
    mutating func succeeded(_ index: Int) {
        if connections[index].state == .probing {
            connections[index].state = .ready
        }
        connections[index].refusals = 0
        guard let refused = connections[index].refusedStreams else { return }
        connections[index].refusedStreams = refused < connections[index].maxStreams ? refused + 1 : nil
    }

    mutating func close(
        _ index: Int,
        _ reason: HTTP2PoolEvent.Retirement,
        _ failure: OutboundFailure,
        at now: NIODeadline
    ) {
        actions.append(.close(connections[index].id))
        forget(index, reason, failure, at: now)
    }

    /// A connection ends with what it has.
    mutating func forget(
        _ index: Int,
        _ reason: HTTP2PoolEvent.Retirement,
        _ failure: OutboundFailure,
        at now: NIODeadline
    ) {
        let connection = connections[index]
        if connection.state == .resolving {
            breakers.failLookUp(at: now, jitter: random())
        } else if !connection.hasAnswered {
            blame(index, at: now)
        }
        if connection.isOpening {
            openFailure = failure
            actions.append(.note(.failed(connection.id, connection.address, failure)))
        } else {
            retire(index, reason)
            actions.append(.note(.closed(connection.id)))
        }
        var lost = failure
        lost.isSent = true
        for slot in requests.slots(of: connection.requests) {
            if let request = take(slot) { actions.append(.end(request, lost)) }
        }
        connections.remove(at: index)
    }
}
