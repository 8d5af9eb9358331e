import Foundation
import Synchronization
import TestSupport

/// A program's output so far; each line is read once.
final class Lines<Record: Sendable>: Sendable {
    private let path: String
    private let parse: @Sendable (Substring) -> Record?
    private let known = Mutex((bytes: UInt64(0), records: [Record]()))

    init(of process: ChildProcess, parse: @escaping @Sendable (Substring) -> Record?) {
        path = process.outputPath
        self.parse = parse
    }

    var records: [Record] {
        known.withLock { known in
            guard let file = FileHandle(forReadingAtPath: path) else { return known.records }
            defer { try? file.close() }
            try? file.seek(toOffset: known.bytes)
            guard let data = try? file.readToEnd(), let end = data.lastIndex(of: 0x0A) else { return known.records }
            let whole = data[...end]
            known.bytes += UInt64(whole.count)
            known.records += String(decoding: whole, as: UTF8.self).split(separator: "\n").compactMap(parse)
            return known.records
        }
    }
}

/// A record as kcat printed it.
struct KcatRecord: Sendable {
    var topic: String
    var partition: Int
    var offset: Int
    var key: String?
    var headers: [String: String]
    var payload: String?

    init?(line: Substring) {
        guard let object = JSONText.object(Data(line.utf8)), let topic = object["topic"] as? String else { return nil }
        self.topic = topic
        partition = object["partition"] as? Int ?? -1
        offset = object["offset"] as? Int ?? -1
        key = object["key"] as? String
        payload = object["payload"] as? String
        headers = [:]
        let names = object["headers"] as? [Any] ?? []
        for index in stride(from: 0, to: names.count - 1, by: 2) {
            if let name = names[index] as? String { headers[name] = names[index + 1] as? String }
        }
    }

    /// A member of the value by its dotted path.
    subscript(path: String) -> String? { payload.flatMap { JSONText.member(path, of: Data($0.utf8)) } }

    /// `scheduled` of `carillon.notification.scheduled.v1`.
    var name: String {
        var name = headers["ce_type"] ?? ""
        if name.hasPrefix("carillon.notification.") { name = String(name.dropFirst("carillon.notification.".count)) }
        if name.hasSuffix(".v1") { name.removeLast(3) }
        return name
    }

    var traceID: String? { headers["traceparent"]?.split(separator: "-").dropFirst().first.map(String.init) }
}

/// A topic as kcat shows it from its beginning on.
final class KcatTopic: Sendable {
    let process: ChildProcess
    private let lines: Lines<KcatRecord>

    init(_ cluster: Cluster, _ name: String) throws {
        process = try ChildProcess(
            try Tools.program("kcat"),
            [
                "-b", cluster.bootstrapServers, "-C", "-t", cluster.topic(name), "-o", "beginning", "-q", "-u", "-J",
                "-X", "fetch.wait.max.ms=10",
            ]
        )
        lines = Lines(of: process) { KcatRecord(line: $0) }
    }

    var records: [KcatRecord] { lines.records }

    /// The records that a test is about, once there are as many as it waits for.
    func records(_ count: Int = 1, _ what: String, where isWanted: (KcatRecord) -> Bool) async throws -> [KcatRecord] {
        var found: [KcatRecord] = []
        try await eventually(
            "\(count) × \(what)",
            orSay: { "there are: \(found.map { $0.payload ?? "null" })\n\(self.process.lastWords)" }
        ) {
            found = records.filter(isWanted)
            return found.count >= count
        }
        return found
    }
}

/// A record with its bytes, as a Python client read it.
struct ByteRecord: Sendable {
    var topic: String
    var partition: Int
    var offset: Int
    var key: Data?
    var value: Data?
    var headers: [(name: String, value: Data?)]

    init?(line: Substring) {
        guard let object = JSONText.object(Data(line.utf8)), let topic = object["topic"] as? String else { return nil }
        func bytes(_ text: Any?) -> Data? { (text as? String).flatMap { Data(base64Encoded: $0) } }
        self.topic = topic
        partition = object["partition"] as? Int ?? -1
        offset = object["offset"] as? Int ?? -1
        key = bytes(object["keyBase64"])
        value = bytes(object["valueBase64"])
        headers = (object["headers"] as? [[Any]] ?? []).compactMap { pair in
            (pair.first as? String).map { ($0, bytes(pair.last)) }
        }
    }

    func header(_ name: String) -> Data? { headers.first { $0.name == name }?.value }
    func text(_ name: String) -> String? { header(name).map { String(decoding: $0, as: UTF8.self) } }

    /// A header of 4 or 8 bytes, the most significant first.
    func bigEndian(_ name: String, bytes count: Int) -> Int? {
        guard let data = header(name), data.count == count else { return nil }
        return data.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// Topics as a Python client reads them, byte by byte.
final class ByteTopics: Sendable {
    let process: ChildProcess
    private let lines: Lines<ByteRecord>

    init(_ cluster: Cluster, _ names: String...) throws {
        process = try ChildProcess(
            try Tools.python(),
            [Tools.client("follow.py"), cluster.bootstrapServers] + names.map(cluster.topic)
        )
        lines = Lines(of: process) { ByteRecord(line: $0) }
    }

    var records: [ByteRecord] { lines.records }

    /// By partition, the offsets of its last marker in `state`: by input topic, the next one to read. What is before it is
    /// committed, also on the embedded broker, whose readers see events that are not.
    var markers: [Int: [String: Int]] {
        var last: [Int: [String: Int]] = [:]
        for record in records where record.key == Data("marker".utf8) {
            last[record.partition] = record.value.flatMap(JSONText.object)?["offsets"] as? [String: Int]
        }
        return last
    }

    /// Whether `state` has an entry with a request, and behind it a marker.
    func isCommitted(_ requestID: String) -> Bool {
        let records = records
        let entry = records.firstIndex { String(decoding: $0.value ?? Data(), as: UTF8.self).contains(requestID) }
        guard let entry else { return false }
        return records[entry...].contains { $0.key == Data("marker".utf8) && $0.partition == records[entry].partition }
    }
}

/// A business event for the CloudEvents SDK.
struct TestEvent: Sendable {
    enum Mode: String, Sendable { case binary, structured }

    var type: String
    var recipient: String
    var identifier: String
    var id = UUID().uuidString
    var mode = Mode.binary
    /// Extension attributes.
    var extensions: [String: String] = [:]
    /// Kafka headers besides those of the binding.
    var headers: [String: String] = [:]
    /// More members of the data.
    var data: [String: String] = [:]

    var line: String {
        var attributes = ["type": "com.example.test.\(type)", "source": "/tests", "id": id, "subject": recipient]
        // In the structured mode the SDK would put this where the mode's own media type belongs.
        if mode == .binary { attributes["datacontenttype"] = "application/json" }
        attributes.merge(extensions) { _, new in new }
        let content = ["recipient": recipient, "identifier": identifier, "title": "Test"].merging(data) { _, new in new
        }
        return JSONLine.text(["event": attributes, "data": content, "mode": mode.rawValue, "headers": headers])
    }
}

/// A record that is sent as it is.
struct TestRecord: Sendable {
    var topic: String
    var key: String?
    var value: Data?
    var headers: [String: String] = [:]
    /// The recipient that determines its partition, and an offset to a wrong partition.
    var recipient: String
    var shift = 0
    /// Milliseconds since 1970; nil for now.
    var timestamp: Int?

    var line: String {
        var order: [String: Any] = ["topic": topic, "recipient": recipient, "shift": shift, "headers": headers]
        if let key { order["key"] = key }
        if let timestamp { order["timestamp"] = timestamp }
        if let value { order["valueBase64"] = value.base64EncodedString() }
        return JSONLine.text(order)
    }
}

/// The position of a published record.
struct Placed: Sendable, Hashable {
    var topic: String
    var partition: Int
    var offset: Int
    var timestamp: Int
}

/// Sending by confluent-kafka.
enum PythonProducer {
    static func send(_ lines: [String], to cluster: Cluster) async throws -> [Placed] {
        let sender = try await ChildProcess.run(
            try Tools.python(),
            [Tools.client("send.py"), cluster.bootstrapServers, cluster.topic("business-events")],
            input: Data(lines.map { $0 + "\n" }.joined().utf8)
        )
        return sender.outputLines.compactMap { line in
            guard let object = JSONText.object(Data(line.utf8)), let topic = object["topic"] as? String,
                let partition = object["partition"] as? Int, let offset = object["offset"] as? Int,
                let timestamp = object["timestamp"] as? Int
            else { return nil }
            return Placed(topic: topic, partition: partition, offset: offset, timestamp: timestamp)
        }
    }
}

enum JSONLine {
    static func text(_ object: [String: Any]) -> String {
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

extension KcatRecord {
    /// What became of each device of an event: name, outcome and reason, in the order of the names.
    var deviceOutcomes: [String] {
        get throws {
            (try object()["devices"] as? [[String: Any]] ?? []).map { device in
                ["device", "outcome", "reason"].compactMap { device[$0] as? String }.joined(separator: " ")
            }
            .sorted()
        }
    }
}
