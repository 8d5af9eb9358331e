/// The fields of a request or removal; the reader and all writers take the names from here.
package enum RequestField: FieldName {
    case requestId, application, recipient, identifier, version, content, trigger, expiration, collapseWindow, channel,
        remove, quietHours, cap, digest
}

/// Writes the value of a request or removal at the end of the caller's bytes: the id, the key, then the other members.
///
/// Programs write ``NotificationRequest`` and ``NotificationRemoval``, which consist of values. Rules and HTTP bodies
/// are JSON already, so they add their members as bytes.
package struct RequestWriter {
    private var object = JSONObjectWriter()

    /// Begins a value.
    ///
    /// - Parameter key: Nil leaves the key to the record.
    package init(_ requestID: RequestID?, _ key: NotificationKey?, to out: inout [UInt8]) {
        if let requestID {
            object.begin(RequestField.requestId, &out)
            requestID.writeJSON(to: &out)
        }
        if let key {
            object.separate(&out)
            key.writeJSONFields(to: &out)
        }
    }

    /// Writes a member's name; the caller writes the value.
    package mutating func begin(_ field: RequestField, _ out: inout [UInt8]) {
        object.begin(field, &out)
    }

    /// Writes a member; omits nil.
    mutating func member(_ field: RequestField, _ value: (some JSONWritable)?, _ out: inout [UInt8]) {
        object.member(field, value, &out)
    }

    /// Ends the value.
    package func end(_ out: inout [UInt8]) {
        object.end(&out)
    }

    /// Ends the value with the members of a valid object that has at least one.
    mutating func end(membersOf json: [UInt8], _ out: inout [UInt8]) {
        object.separate(&out)
        let brace = json.firstIndex(of: 0x7B) ?? json.startIndex
        out.append(contentsOf: json[(brace + 1)...])
    }

    /// A member's name as it follows another member: `,"content":`.
    package static func nameOfLaterMember(_ field: RequestField) -> [UInt8] {
        var out: [UInt8] = [0x2C, 0x22]
        out.append(contentsOf: field.rawValue.bytes)
        out += [0x22, 0x3A]
        return out
    }
}
