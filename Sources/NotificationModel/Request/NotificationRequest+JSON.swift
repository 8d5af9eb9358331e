// The typed structs as JSON. Writing goes field by field; reading scans first and then converts, so that only the scan
// defines what is valid.

extension NotificationRequest {
    /// Reads a record's value. Throws what ``RequestRecord/scan(_:key:)-([UInt8],_)`` throws, and `invalid` at
    /// `remove` when the value is a removal. A content that is a payload of APNs, `{"apns":{…}}`, is converted.
    public init(json: [UInt8], key: NotificationKey) throws(ModelError) {
        var json = json
        guard case .request(let scanned) = try RequestRecord.receive(&json, key: key).record else {
            throw ModelError(.invalid, field: "remove", "this is a removal, not a request")
        }
        self.init(
            requestID: scanned.requestID,
            key: key,
            version: scanned.version,
            content: try NotificationContent(valid: JSONValue.parse(json[scanned.content])),
            trigger: scanned.trigger,
            expiration: scanned.expiration,
            collapseWindow: scanned.collapseWindow.map { Double($0) / 1000 },
            channel: scanned.channel,
            limits: scanned.limits
        )
    }

    /// Throws the error that a reader of the written request would throw.
    public func validate() throws(ModelError) {
        _ = try RequestRecord.scan(json, key: key)
    }

    /// Appends the request as JSON.
    public func write(to out: inout [UInt8]) {
        var object = RequestWriter(requestID, key, to: &out)
        object.member(.version, version, &out)
        object.begin(.content, &out)
        content.write(to: &out)
        if trigger != .push {
            object.begin(.trigger, &out)
            trigger.write(to: &out)
        }
        object.member(.expiration, expiration, &out)
        object.member(.collapseWindow, collapseWindow, &out)
        object.member(.channel, channel?.rawValue, &out)
        object.member(.quietHours, limits?.quietHours, &out)
        object.member(.cap, limits?.cap, &out)
        object.member(.digest, limits?.digest, &out)
        object.end(&out)
    }

    /// The request as JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(512)
        write(to: &out)
        return out
    }
}

extension NotificationRemoval {
    /// Reads a record's value. Throws what ``RequestRecord/scan(_:key:)-([UInt8],_)`` throws, and `invalid` at
    /// `content` when the value is a request.
    public init(json: [UInt8], key: NotificationKey) throws(ModelError) {
        guard case .removal(let scanned) = try RequestRecord.scan(json, key: key) else {
            throw ModelError(.invalid, field: "content", "this is a request, not a removal")
        }
        self.init(requestID: scanned.requestID, key: key, version: scanned.version, scope: scanned.scope)
    }

    /// Appends the removal as JSON.
    public func write(to out: inout [UInt8]) {
        write(under: key, to: &out)
    }

    /// The removal as JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    /// The value of a record under the removal's key, without the fields that the key repeats.
    package var recordValue: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(80)
        write(under: nil, to: &out)
        return out
    }

    private func write(under key: NotificationKey?, to out: inout [UInt8]) {
        var object = RequestWriter(requestID, key, to: &out)
        object.member(.version, version, &out)
        object.member(.remove, scope.rawValue, &out)
        object.end(&out)
    }
}
