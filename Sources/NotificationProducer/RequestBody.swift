import NotificationModel

/// The HTTP body of a request: without application, recipient, identifier and request id, which come from elsewhere.
enum RequestBody {
    /// Validates a complete body.
    ///
    /// - Throws: The model's error, with a dotted path as field.
    static func scan(_ body: [UInt8], key: NotificationKey) throws(ModelError) -> ScannedRequest {
        guard case .request(let request) = try RequestRecord.scan(body, key: key, form: .body) else {
            throw ModelError(.invalid, "the body is not a request")
        }
        return request
    }

    /// The record for a validated body: its members after those of the key and id.
    static func record(body: [UInt8], key: NotificationKey, requestID: RequestID) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(body.count + key.encoded.count * 2 + 128)
        JSONWriter.append("{\"requestId\":\"", to: &value)
        requestID.write(to: &value)
        JSONWriter.append("\",", to: &value)
        key.writeJSONFields(to: &value)
        JSONWriter.append(",", to: &value)
        // A validated body is an object with at least its content.
        let open = body.firstIndex(of: UInt8(ascii: "{")) ?? body.startIndex
        value.append(contentsOf: body[body.index(after: open)...])
        return value
    }

    /// The record of a removal.
    static func removal(scope: RemovalScope, requestID: RequestID) -> [UInt8] {
        var value: [UInt8] = []
        JSONWriter.append("{\"requestId\":\"", to: &value)
        requestID.write(to: &value)
        JSONWriter.append("\",\"remove\":\"", to: &value)
        value.append(contentsOf: scope.rawValue.utf8)
        JSONWriter.append("\"}", to: &value)
        return value
    }
}
