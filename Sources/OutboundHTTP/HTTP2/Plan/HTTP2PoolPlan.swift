import NIOCore

/// Decides which request goes over which connection of an HTTP/2 pool, and which connections there are: a value without
/// sockets, clocks and locks. Its owner reports what happens and the time, calls `proceed`, and carries out the actions.
///
/// The states of a connection are those of ``PlannedHTTP2Connection/State``. A request waits, or is sent, and ends once:
///
/// - It waits in the queue of its priority, first come first served; then on the connection with the most free streams.
/// - It waits again, before the others, when the server says that it has not processed it: by REFUSED_STREAM, or by a GOAWAY
///   whose last stream is before its own. Only then: what was sent over a connection that is lost may have been processed.
/// - Its deadline ends it in any case.
struct HTTP2PoolPlan<Request> {
    typealias Connection = PlannedHTTP2Connection<Request>

    /// What the owner does next, in this order.
    enum Action {
        /// Look up the addresses of the host, and report `resolved` or `closed`.
        case resolve(HTTP2ConnectionID, by: NIODeadline)
        /// Open a connection to the address, and report `opened` or `closed`.
        case connect(HTTP2ConnectionID, IPAddress, by: NIODeadline)
        /// Send a request on a stream.
        case send(Request, RequestNumber, HTTP2ConnectionID, stream: Int)
        /// Send RST_STREAM with CANCEL.
        case reset(HTTP2ConnectionID, stream: Int)
        case ping(HTTP2ConnectionID)
        /// Close the connection; the plan has forgotten it.
        case close(HTTP2ConnectionID)
        /// The result of a request.
        case end(Request, OutboundFailure)
        case note(HTTP2PoolEvent)
    }

    /// A deadline is no reproach to a connection that has had the request for a shorter time.
    static var leastPatience: TimeAmount { .seconds(1) }
    /// A connection that opens counts for what waits only for so long; then another one is tried.
    static var openingPatience: TimeAmount { .seconds(2) }
    /// The pause of a connection after a refusal; doubled by the next ones in a row.
    static var refusalPause: TimeAmount { .milliseconds(20) }
    static var mostRefusals: Int { 8 }

    let settings: HTTP2Pool.Settings
    /// For the texts of failures.
    let host: String
    /// From 0 to below 1.
    let random: () -> Double
    var actions: [Action] = []
    var requests = RequestSlots<Request>()
    /// Those that wait, by priority.
    var queues = [RequestSlots<Request>.List](repeating: .init(), count: HTTP2Request.Priority.allCases.count)
    var connections: [Connection] = []
    var lastConnection = 0
    var breakers: AddressBreakers
    var rate: ConnectionRate
    /// Of all pools with which it is shared.
    let sharedRate: HTTP2OpenRate?
    /// Why the last connection failed, until one is ready: for requests that wait in vain.
    var openFailure: OutboundFailure?
    /// The newest SETTINGS_MAX_CONCURRENT_STREAMS of any connection: what a further one is expected to allow.
    var expectedStreams: Int
    /// The most requests at one time since the last look at idle connections.
    var peak = 0
    var idleCheck: NIODeadline
    /// When the pool ends in any case; nil while it runs.
    var shutdownEnd: NIODeadline?
    /// Counters.
    var usage = HTTP2PoolUsage()

    init(
        _ settings: HTTP2Pool.Settings,
        host: String,
        sharing sharedRate: HTTP2OpenRate? = nil,
        at now: NIODeadline,
        random: @escaping () -> Double
    ) {
        (self.settings, self.host, self.sharedRate, self.random) = (settings, host, sharedRate, random)
        expectedStreams = min(settings.streams, Connection.initialStreams)
        breakers = AddressBreakers(first: settings.firstBackoff, longest: settings.longestBackoff)
        rate = ConnectionRate(perSecond: settings.opensPerSecond, atOnce: settings.opensAtOnce)
        idleCheck = now + settings.idleTimeout
    }

    var waiting: Int { queues.reduce(0) { $0 + $1.count } }

    /// Nothing is left to do.
    var isOver: Bool { shutdownEnd != nil && connections.isEmpty && requests.count == 0 }

    // MARK: - Requests

    /// A request is to be sent.
    ///
    /// - Parameter size: Bytes of the body.
    /// - Returns: Nil when it has ended already, by an action.
    mutating func submit(
        _ request: Request,
        size: Int,
        _ priority: HTTP2Request.Priority,
        by deadline: NIODeadline
    ) -> RequestNumber? {
        guard shutdownEnd == nil else {
            actions.append(.end(request, .closed))
            return nil
        }
        guard queues[priority.rawValue].count < settings.waiting else {
            let text = "\(host): \(settings.waiting) requests with the same priority wait already"
            actions.append(.end(request, OutboundFailure(.overloaded, text)))
            return nil
        }
        let slot = requests.add(request, priority, size: size, by: deadline)
        requests.append(slot, to: &queues[priority.rawValue])
        return requests.number(of: slot)
    }

    /// Nobody waits for the result any more.
    mutating func cancel(_ number: RequestNumber) {
        guard let slot = requests.slot(of: number) else { return }
        end(slot, .cancelled)
    }

    /// There is a whole answer.
    ///
    /// - Returns: The request, whose result the owner reports; nil when it has one already.
    mutating func answered(_ number: RequestNumber, status: Int) -> Request? {
        guard let slot = requests.slot(of: number), let index = index(of: requests[slot].connection) else { return nil }
        connections[index].unanswered = 0
        if status < 500 {
            connections[index].hasAnswered = true
            if let address = connections[index].address { breakers.succeed(address) }
        }
        if (200..<300).contains(status) { succeeded(index) }
        return take(slot)
    }

    /// The stream has ended without a whole answer, and not by a refusal.
    ///
    /// - Returns: As `answered`.
    mutating func failed(_ number: RequestNumber) -> Request? {
        guard let slot = requests.slot(of: number), requests[slot].connection != nil else { return nil }
        return take(slot)
    }

    /// REFUSED_STREAM: the server has not processed the request.
    mutating func refused(_ number: RequestNumber, at now: NIODeadline) {
        guard let slot = requests.slot(of: number), let index = index(of: requests[slot].connection) else { return }
        requeue(slot, from: index)
        connections[index].refusedStreams = max(1, connections[index].requests.count)
        // The others that were sent together with it.
        if connections[index].refusalEnd <= now {
            let doublings = min(Self.mostRefusals, connections[index].refusals)
            connections[index].refusalEnd = now + Self.refusalPause * (1 << doublings)
            connections[index].refusals += 1
        }
        noteResent(1, index)
    }

    /// Takes a request out of its list and its slot.
    mutating func take(_ slot: Int) -> Request? {
        if let index = index(of: requests[slot].connection) {
            requests.remove(slot, from: &connections[index].requests)
        } else {
            requests.remove(slot, from: &queues[requests[slot].priority.rawValue])
        }
        return requests.remove(slot)
    }

    /// Ends a request, and its stream.
    mutating func end(_ slot: Int, _ failure: OutboundFailure) {
        var failure = failure
        if let connection = requests[slot].connection {
            failure.isSent = true
            actions.append(.reset(connection, stream: requests[slot].stream))
        }
        if let request = take(slot) { actions.append(.end(request, failure)) }
    }

    /// Puts a request that was not processed before those that wait.
    mutating func requeue(_ slot: Int, from index: Int) {
        requests.remove(slot, from: &connections[index].requests)
        requests[slot].connection = nil
        requests.prepend(slot, to: &queues[requests[slot].priority.rawValue])
    }

    mutating func noteResent(_ count: Int, _ index: Int) {
        guard count > 0 else { return }
        usage.resent += count
        actions.append(.note(.resent(connections[index].id, count)))
    }

    func index(of connection: HTTP2ConnectionID?) -> Int? {
        guard let connection else { return nil }
        return connections.firstIndex { $0.id == connection }
    }
}
