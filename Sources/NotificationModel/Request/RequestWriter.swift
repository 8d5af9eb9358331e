/// The fields of a request or removal; the reader and all writers take the names from here.
package enum RequestField: UInt8 {
    case requestId, application, recipient, identifier, version, content, trigger, expiration, collapseWindow, channel,
        remove, quietHours, cap, digest

    @inline(__always)
    init?(named name: FieldName) {
        switch name {
        case "requestId": self = .requestId
        case "application": self = .application
        case "recipient": self = .recipient
        case "identifier": self = .identifier
        case "version": self = .version
        case "content": self = .content
        case "trigger": self = .trigger
        case "expiration": self = .expiration
        case "collapseWindow": self = .collapseWindow
        case "channel": self = .channel
        case "remove": self = .remove
        case "quietHours": self = .quietHours
        case "cap": self = .cap
        case "digest": self = .digest
        default: return nil
        }
    }

    var name: FieldName {
        switch self {
        case .requestId: "requestId"
        case .application: "application"
        case .recipient: "recipient"
        case .identifier: "identifier"
        case .version: "version"
        case .content: "content"
        case .trigger: "trigger"
        case .expiration: "expiration"
        case .collapseWindow: "collapseWindow"
        case .channel: "channel"
        case .remove: "remove"
        case .quietHours: "quietHours"
        case .cap: "cap"
        case .digest: "digest"
        }
    }
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
            object.begin(RequestField.requestId.name, &out)
            requestID.writeJSON(to: &out)
        }
        if let key {
            object.separate(&out)
            key.writeJSONFields(to: &out)
        }
    }

    /// Writes a member's name; the caller writes the value.
    package mutating func begin(_ field: RequestField, _ out: inout [UInt8]) {
        object.begin(field.name, &out)
    }

    /// Writes a member; omits nil.
    mutating func member(_ field: RequestField, _ value: (some JSONWritable)?, _ out: inout [UInt8]) {
        object.member(field.name, value, &out)
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
        out.append(contentsOf: field.name.bytes)
        out += [0x22, 0x3A]
        return out
    }
}
