/// The fields of a request or removal.
private enum RequestField: UInt8 {
    case requestId, application, recipient, identifier, version, content, trigger, expiration, collapseWindow, remove

    @inline(__always)
    static func named(_ name: FieldName) -> RequestField? {
        switch name {
        case "requestId": .requestId
        case "application": .application
        case "recipient": .recipient
        case "identifier": .identifier
        case "version": .version
        case "content": .content
        case "trigger": .trigger
        case "expiration": .expiration
        case "collapseWindow": .collapseWindow
        case "remove": .remove
        default: nil
        }
    }
}

extension JSONScanner {
    /// Scans an object that is a request or a removal.
    mutating func requestRecord(
        key: NotificationKey,
        form: RequestRecord.Form
    ) throws(ModelError) -> RequestRecord {
        var seen = SeenFields()
        var request = ScannedRequest(content: 0..<0)
        var scope: RemovalScope?
        try object { scanner, name throws(ModelError) in
            guard let field = try scanner.field(name, RequestField.named) else { throw scanner.unknownField() }
            try seen.insert(field)
            switch field {
            case .requestId:
                try Self.refuse(form, "the service assigns the request id")
                request.requestID = try scanner.requestID()
            case .application:
                try Self.refuse(form, "pass the application as ?application=")
                try scanner.sameAsKey(.application, of: key)
            case .recipient:
                try Self.refuse(form, "the recipient is in the path")
                try scanner.sameAsKey(.recipient, of: key)
            case .identifier:
                try Self.refuse(form, "the identifier is in the path")
                try scanner.sameAsKey(.identifier, of: key)
            case .version:
                request.version = try scanner.integer(in: 0...Int64.max)
            case .content:
                let start = scanner.position
                try scanner.content()
                request.content = start..<scanner.position
            case .trigger:
                request.trigger = try scanner.trigger()
            case .expiration:
                request.expiration = try scanner.timestamp()
            case .collapseWindow:
                let seconds = try scanner.decimal(in: 0...ModelLimits.collapseWindow)
                request.collapseWindow = NotificationTrigger.milliseconds(seconds)
            case .remove:
                try Self.refuse(form, "use DELETE to remove")
                scope = try scanner.choice(RemovalScope.self)
            }
        }
        if let scope {
            let others: [(RequestField, String)] = [
                (.content, "content"), (.trigger, "trigger"), (.expiration, "expiration"),
                (.collapseWindow, "collapseWindow"),
            ]
            for (field, label) in others where seen.contains(field) {
                throw ModelError(.invalid, field: label, "cannot be combined with remove")
            }
            return .removal(ScannedRemoval(requestID: request.requestID, version: request.version, scope: scope))
        }
        guard seen.contains(RequestField.content) else { throw missing("content") }
        guard !key.isWholeRecipient else {
            throw ModelError(.invalid, field: "identifier", "only a removal may leave the identifier empty")
        }
        return .request(request)
    }

    @inline(__always)
    private static func refuse(_ form: RequestRecord.Form, _ detail: String) throws(ModelError) {
        if case .body = form { throw ModelError(.unknownField, field: "", detail) }
    }

    /// A string that must match the key.
    @inline(__always)
    private mutating func sameAsKey(
        _ component: NotificationKey.Component,
        of key: NotificationKey
    ) throws(ModelError) {
        let text = try string()
        let same = try withBytes(text) { bytes throws(ModelError) in
            key.withBytes(of: component) { $0.hasSameBytes(as: bytes) }
        }
        guard same else { throw value("does not match the record's key") }
    }
}
