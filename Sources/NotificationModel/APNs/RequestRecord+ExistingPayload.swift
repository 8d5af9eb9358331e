/// A request or removal from outside, after a payload of APNs that was its content has become a content of Carillon.
package struct ReceivedRequest<Record: Sendable>: Sendable {
    package let record: Record
    /// The members of the payload that no content says, as paths from it: `aps.alert.action-loc-key`.
    package let notConverted: [String]
}

/// `"content":{"apns":{"aps":{…},…}}`: requests may have it where they are read, and nowhere behind.
extension RequestRecord {
    /// Validates a record's value, as ``scan(_:key:)-([UInt8],_)``. The value with a payload of APNs is replaced by one with the content that
    /// ``ExistingAPNsPayload`` makes of it.
    ///
    /// Throws also what is wrong with the payload, with its path: `content.apns.aps.badge`.
    package static func receive(
        _ value: inout [UInt8],
        key: NotificationKey
    ) throws(ModelError) -> ReceivedRequest<RequestRecord> {
        try receive(&value) { value throws(ModelError) in try scan(value, key: key) }
    }

    /// The same for the body of an HTTP call, as ``scan(body:key:)``.
    package static func receive(
        body: inout [UInt8],
        key: NotificationKey
    ) throws(ModelError) -> ReceivedRequest<ScannedRequest> {
        try receive(&body) { body throws(ModelError) in try scan(body: body, key: key) }
    }

    private static func receive<Record>(
        _ value: inout [UInt8],
        _ scan: ([UInt8]) throws(ModelError) -> Record
    ) throws(ModelError) -> ReceivedRequest<Record> {
        do throws(ModelError) {
            return ReceivedRequest(record: try scan(value), notConverted: [])
        } catch {
            // To the scan it is an unknown field: a request without one pays nothing.
            guard error.reason == .unknownField, error.field == ExistingPayloadPlace.path,
                let place = try ExistingPayloadPlace(in: value)
            else { throw error }
            let payload = try place.payload(of: value)
            value.replaceSubrange(place.content, with: payload.content.json)
            return ReceivedRequest(record: try scan(value), notConverted: payload.unsaid)
        }
    }
}

/// Where a request has a payload of APNs.
private struct ExistingPayloadPlace {
    static let path = "content.apns"

    private(set) var content = 0..<0
    private var payload = 0..<0

    private enum Field: FieldName {
        case content, apns
    }

    /// Nil when there is none. Throws `invalid` at `content.apns` when it is not the only member of the content.
    init?(in value: [UInt8]) throws(ModelError) {
        var (contents, members) = (0, 0)
        var place: (content: Range<Int>, payload: Range<Int>?) = (0..<0, nil)
        try value.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            try scanner.whole { scanner throws(ModelError) in
                try scanner.object { scanner, name throws(ModelError) in
                    guard try scanner.field(name, of: Field.self) == .content else { return try scanner.skipValue() }
                    contents += 1
                    let start = scanner.position
                    try scanner.object { scanner, name throws(ModelError) in
                        members += 1
                        let start = scanner.position
                        let field = try scanner.field(name, of: Field.self)
                        try scanner.skipValue()
                        if field == .apns { place.payload = start..<scanner.position }
                    }
                    place.content = start..<scanner.position
                }
            }
        }
        guard contents == 1 else { throw ModelError(.invalid, field: "content", "appears twice") }
        guard let payload = place.payload else { return nil }
        guard members == 1 else {
            throw ModelError(
                .invalid,
                field: Self.path,
                "cannot be combined with other members of content: say them in the payload, or leave it out"
            )
        }
        (content, self.payload) = (place.content, payload)
    }

    func payload(of value: [UInt8]) throws(ModelError) -> ExistingAPNsPayload {
        do throws(ModelError) {
            return try ExistingAPNsPayload(json: Array(value[payload]))
        } catch {
            let field = error.field.map { "\(Self.path).\($0)" } ?? Self.path
            throw ModelError(error.reason, field: field, error.detail)
        }
    }
}
