import NotificationModel

/// A JSON object that is being written, and what FCM counts of it: the bytes of its names and texts.
struct FCMObject {
    private(set) var json: [UInt8] = []
    private(set) var bytes = 0
    private var writer = JSONObjectWriter()

    var isEmpty: Bool { json.isEmpty }

    mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        begin(name)
        bytes += text.utf8.count
        JSONWriter.append(string: text, to: &json)
    }

    mutating func add(_ name: String, _ number: Int64?) {
        guard let number else { return }
        begin(name)
        bytes += String(number).utf8.count
        JSONWriter.append(number: number, to: &json)
    }

    mutating func add(_ name: String, _ texts: [String]) {
        begin(name)
        bytes += texts.reduce(0) { $0 + $1.utf8.count }
        texts.writeJSON(to: &json)
    }

    /// Adds a member that is written already; what it counts is the caller's.
    mutating func add(_ name: String, raw value: [UInt8]) {
        begin(name)
        JSONWriter.append(raw: value, to: &json)
    }

    private mutating func begin(_ name: String) {
        writer.separate(&json)
        bytes += name.utf8.count
        JSONWriter.append(string: name, to: &json)
        json.append(0x3A)
    }

    /// The whole object.
    consuming func ended() -> [UInt8] {
        writer.end(&json)
        return json
    }
}
