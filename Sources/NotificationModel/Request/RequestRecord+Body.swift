/// The HTTP body of a request: without application, recipient, identifier and request id, which come from elsewhere.
extension RequestRecord {
    /// Validates a complete body, as ``scan(_:key:)-([UInt8],_)``; the members that come from elsewhere and `remove` are
    /// unknown fields.
    public static func scan(body: [UInt8], key: NotificationKey) throws(ModelError) -> ScannedRequest {
        let record = try body.borrowed { bytes throws(ModelError) in try scan(bytes, key: key, origin: .body) }
        guard case .request(let request) = record else { throw ModelError(.invalid, "the body is not a request") }
        return request
    }

    /// The value of a record for a valid body: the id, the key, then the body's members.
    package static func value(body: [UInt8], key: NotificationKey, requestID: RequestID) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(body.count + key.encoded.count * 2 + 128)
        var object = RequestWriter(requestID, key, to: &value)
        // A request has at least its content.
        object.end(membersOf: body, &value)
        return value
    }
}
