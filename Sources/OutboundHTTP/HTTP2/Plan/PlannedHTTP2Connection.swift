import NIOCore

/// What the plan of a pool knows of a connection.
struct PlannedHTTP2Connection<Request> {
    /// What a connection is doing. It goes from each to one of the next ones; it is forgotten when it closes.
    enum State: Hashable {
        /// The addresses of the host are looked up and judged.
        case resolving
        /// TCP and TLS.
        case connecting
        /// The first SETTINGS are awaited.
        case settling
        /// One request at a time, until the first success: a server may count on that, as APNs does.
        case probing
        /// As many requests as the server allows.
        case ready
        /// No further request; it closes when the last one has ended.
        case draining
    }

    /// RFC 9113, 6.9.2.
    static var initialWindow: Int { 65_535 }
    /// What SwiftNIO assumes, too, before a server says otherwise.
    static var initialStreams: Int { 100 }
    /// The last stream number is 2^31 - 1; some are left for requests that are on their way.
    static var lastStream: Int { Int(Int32.max) - 1000 }
    /// Of the connection's window, for requests with high priority: four of 4 KiB.
    static var reservedWindow: Int { 16 * 1024 }

    let id: HTTP2ConnectionID
    var state = State.resolving
    /// Nil while `resolving`.
    var address: IPAddress?
    let began: NIODeadline
    /// Until then it must be `probing`.
    let openEnd: NIODeadline
    /// When its age ends; known when it is `probing`.
    var ageEnd = NIODeadline.distantFuture
    /// In flight, the oldest first.
    var requests = RequestSlots<Request>.List()
    var nextStream = 1
    /// The newest SETTINGS_MAX_CONCURRENT_STREAMS, or the bound of the settings.
    var maxStreams: Int
    /// What of the connection's flow-control window no request has taken.
    var window = initialWindow
    var isWritable = true
    /// There was an answer with a status below 500.
    var hasAnswered = false
    /// It has opened the breaker of its address.
    var isBlamed = false
    /// Requests in a row whose deadline has passed.
    var unanswered = 0
    /// When the server was last heard.
    var heard: NIODeadline
    /// By when a PING must be answered; nil without one.
    var pingEnd: NIODeadline?
    /// After a refusal of streams that its SETTINGS allow: no more at one time; each success adds one.
    var refusedStreams: Int?
    /// After a refusal there is no request before that.
    var refusalEnd = NIODeadline.distantPast
    /// Refusals in a row, each after the pause of the one before.
    var refusals = 0

    init(_ id: HTTP2ConnectionID, maxStreams: Int, at now: NIODeadline, openEnd: NIODeadline) {
        (self.id, self.maxStreams, began, self.openEnd, heard) = (id, maxStreams, now, openEnd, now)
    }

    var isOpening: Bool {
        switch state {
        case .resolving, .connecting, .settling: true
        case .probing, .ready, .draining: false
        }
    }

    /// Whether it can get requests.
    var isUsable: Bool { state == .probing || state == .ready }

    /// The most requests at one time now.
    var allowance: Int {
        switch state {
        case .probing: min(1, maxStreams)
        case .ready: min(maxStreams, refusedStreams ?? .max)
        case .resolving, .connecting, .settling, .draining: 0
        }
    }

    /// Streams that only requests with high priority get.
    ///
    /// - Parameter share: Of all streams.
    func reserved(_ share: Double) -> Int {
        let streams = allowance
        guard share > 0, streams > 1 else { return 0 }
        return min(streams - 1, max(1, Int(Double(streams) * share)))
    }

    /// How many more requests it can get now.
    func free(for priority: HTTP2Request.Priority, reservedShare: Double, at now: NIODeadline) -> Int {
        guard isUsable, refusalEnd <= now else { return 0 }
        let count = requests.count
        if priority == .high { return window > 0 || count == 0 ? allowance - count : 0 }
        // Bodies of other requests must leave those with high priority a part of the window, and of what the system buffers.
        guard count == 0 || isWritable && window > Self.reservedWindow else { return 0 }
        // Those with high priority that are in flight have a part of what is reserved.
        return allowance - count - max(0, reserved(reservedShare) - requests.urgent)
    }
}
