import NotificationModel

/// A record of `requests` as the workload knows it, with the outcome that the pipeline must give it.
struct PublishedRecord {
    enum Content {
        case request(Request)
        case removal(RemovalScope, version: Int64?)
        /// A record that becomes a dead letter.
        case bad(ReasonCode)
    }

    struct Request {
        var version: Int64?
        /// Milliseconds; 0 for none.
        var collapseWindow: Int64 = 0
        /// Milliseconds; nil for a push.
        var interval: Int64?
        var repeats = false
        var misfire: MisfirePolicy?
        /// Milliseconds.
        var jitter: Int64 = 0
        var expiration: Timestamp?
        var content: String
    }

    var partition: Int32
    var offset: Int64
    var timestamp: Timestamp
    /// nil for a bad record.
    var id: RequestID?
    var key: NotificationKey?
    var content: Content

    var place: Place { Place(partition: partition, offset: offset) }

    /// It is a removal of pending notifications only.
    var isOfPending: Bool {
        if case .removal(.pending, _) = content { true } else { false }
    }

    /// For the trace.
    var text: String {
        let name = "\(id?.text.prefix(8) ?? "-") \(key?.text ?? "-") at \(place), \(timestamp)"
        switch content {
        case .request(let request): return "request \(name): \(request.json(id: nil).prefix(1_000))"
        case .removal(let scope, let version):
            return "removal \(name): \(scope.rawValue) \(version.map { "v\($0)" } ?? "")"
        case .bad(let reason): return "a bad record at \(place): \(reason.rawValue)"
        }
    }
}

/// The position of a record.
struct Place: Hashable, Comparable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    static func < (a: Self, b: Self) -> Bool { (a.partition, a.offset) < (b.partition, b.offset) }
    var description: String { "\(partition)/\(offset)" }
}

extension PublishedRecord.Request {
    /// The earliest time for handing over the k-th occurrence, counted from 1.
    func nominal(_ occurrence: Int64 = 1, from anchor: Timestamp) -> Timestamp {
        anchor.adding(milliseconds: interval.map { $0 * occurrence } ?? collapseWindow)
    }

    /// The value as the producer service writes it.
    func json(id: RequestID?) -> String {
        var members: [String] = []
        if let id { members.append("\"requestId\":\"\(id.text)\"") }
        if let version { members.append("\"version\":\(version)") }
        members.append("\"content\":\(content)")
        if let interval {
            var trigger = "\"type\":\"timeInterval\",\"timeInterval\":\(Self.seconds(interval))"
            trigger += ",\"repeats\":\(repeats)"
            if let misfire { trigger += ",\"misfire\":\"\(misfire.rawValue)\"" }
            if jitter > 0 { trigger += ",\"jitter\":\(Self.seconds(jitter))" }
            members.append("\"trigger\":{\(trigger)}")
        }
        if let expiration { members.append("\"expiration\":\"\(expiration.rfc3339)\"") }
        if collapseWindow > 0 { members.append("\"collapseWindow\":\(Self.seconds(collapseWindow))") }
        return "{\(members.joined(separator: ","))}"
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

extension RequestID {
    var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
