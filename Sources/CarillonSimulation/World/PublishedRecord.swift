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
        /// Milliseconds; nil for a push, and for a calendar.
        var interval: Int64?
        var calendar: SimulatedCalendar?
        /// Of the calendar, counted from the record.
        var occurrences: [Timestamp] = []
        /// It waits for a device to cross the boundary of `SimulatedRegion`, in these directions.
        var onEntry = false
        var onExit = false
        var repeats = false
        var misfire: MisfirePolicy?
        /// Milliseconds.
        var jitter: Int64 = 0
        var expiration: Timestamp?
        /// nil for the channel of the run.
        var channel: ChannelName?
        /// What holds it back or limits it.
        var limits: SimulatedLimits?
        var content: String
        /// It starts or updates a Live Activity.
        var isActivity = false
        /// When the activity disappears after its end.
        var dismissalDate: Timestamp?
        /// Its content asks for enrichment.
        var isEnriched = false {
            didSet { content = "{\"mutableContent\":true,\(content.dropFirst())" }
        }

        /// What may be sent.
        var contents: Set<String> { isEnriched ? [content, SimulatedEnrichment.enriched(content)] : [content] }
    }

    var partition: Int32
    var offset: Int64
    var timestamp: Timestamp
    /// nil for a bad record.
    var id: RequestID?
    var key: NotificationKey?
    var content: Content

    var place: Place { Place(partition: partition, offset: offset) }

    /// Whether it is of a key, or of all of its recipient.
    func concerns(_ key: NotificationKey) -> Bool { self.key == key || self.key == key.ofRecipient }

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
    /// Whether it has occurrences.
    var isTimed: Bool { interval != nil || calendar != nil }
    /// Whether it waits for a crossing.
    var isOfRegion: Bool { onEntry || onExit }
    /// Whether it may wait until it is removed.
    var mayStay: Bool { repeats || isOfRegion && expiration == nil }

    /// The earliest time for handing over the k-th occurrence, counted from 1.
    func nominal(_ occurrence: Int64 = 1, from anchor: Timestamp) -> Timestamp {
        // It is sent at any time, but ends with its expiration.
        if isOfRegion { return expiration ?? .latest }
        guard calendar != nil else {
            return anchor.adding(milliseconds: interval.map { $0 * occurrence } ?? collapseWindow)
        }
        let index = Int(occurrence) - 1
        return occurrences.indices.contains(index) ? occurrences[index] : .latest
    }

    /// How many occurrences are not after an instant; for a repeat.
    func passed(at instant: Timestamp, from anchor: Timestamp) -> Int64 {
        guard let interval else { return Int64(occurrences.partitioningIndex { $0 > instant }) }
        return max(0, (instant.rawValue - anchor.rawValue) / interval)
    }

    /// Which occurrence an instant is, from 1; nil for one that is none.
    func number(of instant: Timestamp, from anchor: Timestamp) -> Int64? {
        let number = passed(at: instant, from: anchor)
        return number >= 1 && nominal(number, from: anchor) == instant ? number : nil
    }

    /// The value as the producer service writes it.
    func json(id: RequestID?) -> String {
        var members: [String] = []
        if let id { members.append("\"requestId\":\"\(id.text)\"") }
        if let version { members.append("\"version\":\(version)") }
        members.append("\"content\":\(content)")
        if isTimed {
            var trigger =
                interval.map { "\"type\":\"timeInterval\",\"timeInterval\":\(Self.seconds($0))" } ?? ""
            if let calendar { trigger = "\"type\":\"calendar\",\(calendar.json)" }
            trigger += ",\"repeats\":\(repeats)"
            if let misfire { trigger += ",\"misfire\":\"\(misfire.rawValue)\"" }
            if jitter > 0 { trigger += ",\"jitter\":\(Self.seconds(jitter))" }
            members.append("\"trigger\":{\(trigger)}")
        }
        if isOfRegion {
            let edges = "\"notifyOnEntry\":\(onEntry),\"notifyOnExit\":\(onExit)"
            members.append(
                "\"trigger\":{\"type\":\"location\",\(SimulatedRegion.json),\(edges),\"repeats\":\(repeats)}"
            )
        }
        if let expiration { members.append("\"expiration\":\"\(expiration.rfc3339)\"") }
        if collapseWindow > 0 { members.append("\"collapseWindow\":\(Self.seconds(collapseWindow))") }
        if let channel { members.append("\"channel\":\"\(channel.rawValue)\"") }
        return "{\(members.joined(separator: ","))\(limits?.json ?? "")}"
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

extension [Timestamp] {
    /// The index of the first element for which a condition holds, which then holds for all after it.
    fileprivate func partitioningIndex(where holds: (Timestamp) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
