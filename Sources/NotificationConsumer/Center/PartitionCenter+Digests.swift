import NotificationModel

/// Digests: the notifications of a group that a recipient got within a window are sent as one. Each member waits in its own
/// entry, so that it can be replaced and cancelled; the recipient's record has the list of the members.
extension PartitionCenter {
    /// The window of a member has ended: folds all members into one notification, and sends it. A member that is alone is
    /// sent as it is.
    mutating func foldDigest(of member: NotificationKey, at now: Timestamp) throws {
        let recipient = member.ofRecipient
        guard let waiting = try collected(member, at: now), let policy = waiting.limits?.digest,
            let group = policy.group(of: waiting.content)
        else { return }
        var record = try self.recipient(of: recipient) ?? RecipientRecord()
        // Its expiration has passed before the end of the window.
        let window = record.digests.first { $0.group.hasSameUTF8(as: group) }
        if let window, window.until > now { return try releaseAlone(member, at: now) }
        _ = record.endDigest(of: group)
        keep(record, of: recipient, at: now)
        var members: [(key: NotificationKey, pending: StateEntry.Pending)] = []
        for identifier in window?.members ?? [] {
            let key = try recipient.withIdentifier(identifier)
            guard let pending = try collected(key, at: now), pending.limits?.digest?.group(of: pending.content) == group
            else { continue }
            if let expiration = pending.expiration, expiration <= now {
                try releaseAlone(key, at: now)
            } else {
                members.append((key, pending))
            }
        }
        guard members.count > 1, let first = members.first?.pending, let last = members.last?.pending else {
            return try releaseAlone(members.first?.key ?? member, at: now)
        }
        let digest = try recipient.withIdentifier(Self.identifier(ofDigest: group))
        let id = RequestID.derive(
            caller: "digest",
            idempotencyKey: "\(String(decoding: digest.encoded, as: UTF8.self)) \(first.requestID) \(last.requestID)"
        )
        let content = policy.content(of: members.map(\.pending.content), limit: rules.contentBytes)
        for (key, _) in members { try turn(of: key, at: now, from: .clock) { $0.fold(into: id) } }
        try turn(of: digest, at: now, from: .clock) {
            $0.send(
                .init(
                    requestID: id,
                    content: content[...],
                    expiration: members.compactMap(\.pending.expiration).max(),
                    trace: last.trace,
                    timer: .turn,
                    due: now,
                    isInDoubt: members.contains(where: \.pending.isInDoubt),
                    channel: last.channel,
                    limits: DeliveryLimits(quietHours: last.limits?.quietHours, cap: last.limits?.cap, digest: nil)
                )
            )
        }
    }

    /// What waits under a key for the end of a digest's window.
    private mutating func collected(_ key: NotificationKey, at now: Timestamp) throws -> StateEntry.Pending? {
        guard let pending = try slot(of: key, at: now).flatMap({ inUse.entry(of: $0).pending }),
            case .digest = pending.timer
        else { return nil }
        return pending
    }

    private mutating func releaseAlone(_ key: NotificationKey, at now: Timestamp) throws {
        try turn(of: key, at: now, from: .clock) { $0.fire() }
    }

    /// The identifier of a digest: the next one of the group replaces it on the devices. A group that cannot be part of a
    /// key, being too long or having a control character, has the hash of its name.
    static func identifier(ofDigest group: String) -> String {
        let name = "digest:\(group)"
        let isComponent =
            name.utf8.count <= ModelLimits.keyComponentBytes
            && !name.unicodeScalars.contains(where: PrintableText.isControl)
        guard !isComponent else { return name }
        return "digest:\(RequestID.derive(caller: "digest", idempotencyKey: group))"
    }
}
