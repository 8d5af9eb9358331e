// The typed structs as JSON. Writing goes field by field; reading scans first and then converts, so that only the scan
// defines what is valid.

extension NotificationRequest {
    /// Reads a record's value. Throws what ``RequestRecord/scan(_:key:form:)-([UInt8],_,_)`` throws, and `invalid` at
    /// `remove` when the value is a removal.
    public init(json: [UInt8], key: NotificationKey) throws(ModelError) {
        guard case .request(let scanned) = try RequestRecord.scan(json, key: key) else {
            throw ModelError(.invalid, field: "remove", "this is a removal, not a request")
        }
        self.init(
            requestID: scanned.requestID,
            key: key,
            version: scanned.version,
            content: try NotificationContent(valid: JSONValue.parse(json[scanned.content])),
            trigger: scanned.trigger,
            expiration: scanned.expiration,
            collapseWindow: scanned.collapseWindow.map { Double($0) / 1000 }
        )
    }

    /// Throws the error that a reader of the written request would throw.
    public func validate() throws(ModelError) {
        _ = try RequestRecord.scan(json, key: key)
    }

    /// Appends the request as JSON.
    public func write(to out: inout [UInt8]) {
        out.append(0x7B)
        if let requestID {
            JSONWriter.append("\"requestId\":", to: &out)
            requestID.writeJSON(to: &out)
            out.append(0x2C)
        }
        key.writeJSONFields(to: &out)
        if let version {
            JSONWriter.append(",\"version\":", to: &out)
            JSONWriter.append(number: version, to: &out)
        }
        JSONWriter.append(",\"content\":", to: &out)
        content.write(to: &out)
        if trigger != .push {
            JSONWriter.append(",\"trigger\":", to: &out)
            trigger.write(to: &out)
        }
        if let expiration {
            JSONWriter.append(",\"expiration\":", to: &out)
            JSONWriter.append(timestamp: expiration, to: &out)
        }
        if let collapseWindow {
            JSONWriter.append(",\"collapseWindow\":", to: &out)
            JSONWriter.append(number: collapseWindow, to: &out)
        }
        out.append(0x7D)
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
    /// Reads a record's value. Throws what ``RequestRecord/scan(_:key:form:)-([UInt8],_,_)`` throws, and `invalid` at
    /// `content` when the value is a request.
    public init(json: [UInt8], key: NotificationKey) throws(ModelError) {
        guard case .removal(let scanned) = try RequestRecord.scan(json, key: key) else {
            throw ModelError(.invalid, field: "content", "this is a request, not a removal")
        }
        self.init(requestID: scanned.requestID, key: key, version: scanned.version, scope: scanned.scope)
    }

    /// Appends the removal as JSON.
    public func write(to out: inout [UInt8]) {
        out.append(0x7B)
        if let requestID {
            JSONWriter.append("\"requestId\":", to: &out)
            requestID.writeJSON(to: &out)
            out.append(0x2C)
        }
        key.writeJSONFields(to: &out)
        if let version {
            JSONWriter.append(",\"version\":", to: &out)
            JSONWriter.append(number: version, to: &out)
        }
        JSONWriter.append(",\"remove\":", to: &out)
        JSONWriter.append(string: scope.rawValue, to: &out)
        out.append(0x7D)
    }

    /// The removal as JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}
