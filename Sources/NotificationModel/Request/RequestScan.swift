extension JSONScanner {
    /// Scans an object that is a request or a removal.
    mutating func requestRecord(
        key: NotificationKey,
        origin: RequestRecord.Origin
    ) throws(ModelError) -> RequestRecord {
        var request = ScannedRequest(content: 0..<0)
        var coherence = APNsCoherence()
        var scope: RemovalScope?
        let seen = try object(of: RequestField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .requestId:
                try Self.refuse(origin, "the service assigns the request id")
                request.requestID = try scanner.requestID()
            case .application:
                try Self.refuse(origin, "pass the application as ?application=")
                try scanner.sameAsKey(.application, of: key)
            case .recipient:
                try Self.refuse(origin, "the recipient is in the path")
                try scanner.sameAsKey(.recipient, of: key)
            case .identifier:
                try Self.refuse(origin, "the identifier is in the path")
                try scanner.sameAsKey(.identifier, of: key)
            case .version:
                request.version = try scanner.integer(in: 0...Int64.max)
            case .content:
                let start = scanner.position
                request.facts = try scanner.content(&coherence)
                request.content = start..<scanner.position
            case .trigger:
                request.trigger = try scanner.trigger()
            case .expiration:
                request.expiration = try scanner.timestamp()
            case .collapseWindow:
                let seconds = try scanner.decimal(in: 0...ModelLimits.collapseWindow)
                request.collapseWindow = NotificationTrigger.milliseconds(seconds)
            case .channel:
                request.channel = try scanner.choice(ChannelName.self)
            case .remove:
                try Self.refuse(origin, "use DELETE to remove")
                scope = try scanner.choice(RemovalScope.self)
            // Nearly all requests have none: only those that have some pay for them.
            case .quietHours:
                let (hours, others) = (try scanner.quietHours(.body), request.limits)
                request.limits = DeliveryLimits(quietHours: hours, cap: others?.cap, digest: others?.digest)
            case .cap:
                let (cap, others) = (try scanner.deliveryCap(.body), request.limits)
                request.limits = DeliveryLimits(quietHours: others?.quietHours, cap: cap, digest: others?.digest)
            case .digest:
                let (digest, others) = (try scanner.digestPolicy(.body), request.limits)
                request.limits = DeliveryLimits(quietHours: others?.quietHours, cap: others?.cap, digest: digest)
            }
        }
        if let scope {
            let others: [RequestField] = [
                .content, .trigger, .expiration, .collapseWindow, .channel, .quietHours, .cap, .digest,
            ]
            for field in others where seen.contains(field) {
                throw ModelError(.invalid, field: field.rawValue.text, "cannot be combined with remove")
            }
            return .removal(ScannedRemoval(requestID: request.requestID, version: request.version, scope: scope))
        }
        try seen.require(.content)
        guard !key.isWholeRecipient else {
            throw ModelError(.invalid, field: "identifier", "only a removal may leave the identifier empty")
        }
        try coherence.check(self, channel: request.channel)
        if request.facts.isLiveActivity { try coherence.checkActivity(of: request) }
        if let digest = request.limits?.digest {
            try digest.check(
                trigger: request.trigger,
                content: UnsafeRawBufferPointer(rebasing: bytes[request.content])
            )
        }
        return .request(request)
    }

    @inline(__always)
    private static func refuse(_ origin: RequestRecord.Origin, _ detail: String) throws(ModelError) {
        if case .body = origin { throw ModelError(.unknownField, field: "", detail) }
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
