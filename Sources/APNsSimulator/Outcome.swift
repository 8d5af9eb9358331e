import NotificationModel

/// What a request leads to on its connection.
struct Outcome: Sendable {
    enum Action: Sendable {
        case answer(Answer)
        case silence
        case refuseStream
        case goAway(APNsReason)
        case cut
    }

    var action: Action
    /// The time before an answer.
    var delay: Duration
    /// SETTINGS_MAX_CONCURRENT_STREAMS to announce.
    var streams: Int?

    init(_ action: Action, after delay: Duration = .zero) { (self.action, self.delay) = (action, delay) }
}

/// An answer of APNs.
struct Answer: Sendable {
    var status: Int
    var reason: String?
    var timestamp: Timestamp?
    /// In seconds.
    var retryAfter: Int?
    /// `apns-id`.
    var id: String?
    /// `apns-unique-id`: only in development.
    var uniqueID: String?
    /// `apns-channel-id`.
    var channelID: String?
    /// `apns-request-id`.
    var requestID: String?
    /// Of an answer without a reason.
    var body: JSONValue?

    /// Accepted.
    init(id: String?) { (status, self.id) = (200, id) }

    /// Refused.
    init(_ answer: Fault.Answer, id: String?) {
        (status, reason, timestamp) = (answer.status, answer.reason, answer.timestamp)
        (retryAfter, self.id) = (answer.retryAfter, id)
    }

    var isSuccess: Bool { (200..<300).contains(status) }

    /// The body; nil for none.
    var json: [UInt8]? {
        guard let reason else { return body?.json }
        var members = [JSONValue.Member("reason", .string(reason))]
        if let timestamp { members.append(.init("timestamp", .number("\(timestamp.rawValue)"))) }
        return JSONValue.object(members).json
    }
}

/// What the simulator has counted since it began, or since the numbers were cleared.
public struct APNsStatistics: Sendable, Hashable {
    /// Requests that arrived completely.
    public internal(set) var requests = 0
    /// Answers with 200, 201 and 204.
    public internal(set) var accepted = 0
    /// Other answers, by reason; by status those without one.
    public internal(set) var refused: [String: Int] = [:]
    /// Requests that were left without an answer.
    public internal(set) var unanswered = 0
    /// Streams with REFUSED_STREAM.
    public internal(set) var refusedStreams = 0
    /// GOAWAYs.
    public internal(set) var goAways = 0
    /// Connections that were cut.
    public internal(set) var cuts = 0
    /// Connections whose TLS handshake succeeded.
    public internal(set) var connections = 0

    mutating func count(_ answer: Answer) {
        if answer.isSuccess { accepted += 1 } else { refused[answer.reason ?? "\(answer.status)", default: 0] += 1 }
    }
}
