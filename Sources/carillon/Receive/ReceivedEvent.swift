import NotificationModel

/// A CloudEvent in structured mode, as `carillon receive` shows it.
struct ReceivedEvent: Hashable {
    static let contentType = "application/cloudevents+json"

    var subject: String
    /// `delivered` or `removed`; the whole type when it is none of Carillon's.
    var name: String
    /// What people want to know of the event's data.
    var summary: String

    /// - Parameter contentType: The header; nil when it is missing.
    /// - Throws: `invalid` with the header or the attribute that is wrong.
    init(contentType: String?, body: [UInt8]) throws(ModelError) {
        let media = (contentType ?? "").split(separator: ";").first.map { $0.lowercased().filter { $0 != " " } } ?? ""
        guard media == Self.contentType else {
            throw ModelError(.invalid, field: "content-type", "must be \(Self.contentType)")
        }
        let event = try JSONValue.parse(body)
        func attribute(_ name: String) throws(ModelError) -> String {
            guard let text = event[name]?.stringValue, !text.isEmpty else {
                throw ModelError(.invalid, field: name, "is missing in the CloudEvent")
            }
            return text
        }
        guard try attribute("specversion") == "1.0" else {
            throw ModelError(.invalid, field: "specversion", "must be 1.0")
        }
        subject = try attribute("subject")
        name = RecordName(type: try attribute("type")).short
        guard let data = event["data"] else {
            throw ModelError(.invalid, field: "data", "is missing in the CloudEvent")
        }
        summary = RecordLine.summary(of: Array(data.json))
    }

    /// `08:00:01.234  shop/ana/order-1  delivered  "On its way"`
    func line(at now: Timestamp) -> String {
        Self.line(now, [RecordText.safe(subject), RecordText.safe(name), summary])
    }

    /// `08:00:01.234  refused  webhook-signature: no key of the file has signed this request`
    static func line(refusing why: String, at now: Timestamp) -> String {
        line(now, ["refused", RecordText.safe(why)])
    }

    private static func line(_ now: Timestamp, _ fields: [String]) -> String {
        ([RecordLine.timeOfDay(now.rfc3339)] + fields).joined(separator: "  ") + "\n"
    }
}
