import NotificationModel
import NotificationState

/// Digests: the notifications of a group that a recipient got within a window are sent as one. Each member waits in its own
/// entry, so that it can be replaced and cancelled; the recipient's record has the list of the members.
extension PartitionCenter {
    private typealias Member = (key: NotificationKey, pending: StateEntry.Pending, isInDoubt: Bool)

    /// How long a digest waits at least when the one before is still being sent, in milliseconds.
    private static let patience: Int64 = 10_000

    /// The window of a member has ended: folds all members into one notification, and sends it. A member that is alone is
    /// sent as it is. While quiet hours of any member hold it back, or the digest before is not sent yet, all of them go on
    /// waiting, so that each can still be replaced and cancelled.
    mutating func foldDigest(of member: NotificationKey, at now: Timestamp) throws {
        let recipient = member.ofRecipient
        guard let waiting = try collected(member, at: now), let policy = waiting.limits?.digest,
            let group = policy.group(of: waiting.content)
        else { return }
        var record = try self.recipient(of: recipient) ?? RecipientRecord()
        let window = record.digests.first { $0.group.hasSameUTF8(as: group) }
        // Its expiration has passed before the end of the window, or a part of the changelog was lost.
        guard let window, window.until <= now, window.members.containsUTF8(of: member.identifier) else {
            return try releaseAlone(member, at: now)
        }
        let (members, others) = try members(of: window, group, of: recipient, at: now)
        let digest = try recipient.withIdentifier(Self.identifier(ofDigest: group))
        if let end = try postponement(of: members, to: digest, policy, at: now) {
            record.extendDigest(of: group, until: end.until)
            keep(record, of: recipient, at: now)
            for (key, _, _) in members {
                try turn(of: key, at: now, from: .clock) { $0.postpone(until: end.until, isQuiet: end.isQuiet) }
            }
        } else {
            _ = record.endDigest(of: group)
            keep(record, of: recipient, at: now)
            if members.count > 1 {
                try fold(members, by: policy, into: digest, at: now)
            } else if let alone = members.first?.key {
                try releaseAlone(alone, at: now)
            }
        }
        for key in others { try releaseAlone(key, at: now) }
    }

    /// - Returns: the members that go into the digest, and those that end now: they have expired, or quiet hours suppress them.
    private mutating func members(
        of window: RecipientRecord.DigestWindow,
        _ group: String,
        of recipient: NotificationKey,
        at now: Timestamp
    ) throws -> (members: [Member], others: [NotificationKey]) {
        var (members, others): ([Member], [NotificationKey]) = ([], [])
        for identifier in window.members {
            let key = try recipient.withIdentifier(identifier)
            guard let pending = try collected(key, at: now), pending.limits?.digest?.group(of: pending.content) == group
            else { continue }
            let hasExpired = pending.expiration.map { $0 <= now } ?? false
            if try hasExpired
                || turn(ofRecipient: recipient, at: now, { $0.isSilenced(pending.limits, pending.content) })
            {
                others.append(key)
            } else {
                members.append((key, pending, try entry(of: key)?.isInDoubt(pending.showing) ?? false))
            }
        }
        return (members, others)
    }

    /// - Returns: until when the members go on waiting; nil when the digest can be sent.
    private mutating func postponement(
        of members: [Member],
        to digest: NotificationKey,
        _ policy: DigestPolicy,
        at now: Timestamp
    ) throws -> (until: Timestamp, isQuiet: Bool)? {
        guard members.count > 1 else { return nil }
        let quiet = try turn(ofRecipient: digest.ofRecipient, at: now) { turn in
            members.compactMap { turn.quietEnd(holding: $0.pending.content, $0.pending.limits) }.max()
        }
        if let quiet, quiet > now { return (quiet, true) }
        guard let entry = try slot(of: digest, at: now).map({ inUse.entry(of: $0) }) else { return nil }
        var isBusy = entry.handover != nil
        if case .turn? = entry.pending?.timer { isBusy = true }
        return isBusy ? (now.adding(milliseconds: max(Self.patience, policy.window)), false) : nil
    }

    private mutating func fold(
        _ members: [Member],
        by policy: DigestPolicy,
        into digest: NotificationKey,
        at now: Timestamp
    ) throws {
        guard let first = members.first?.pending, let last = members.last?.pending else { return }
        let id = RequestID.derive(
            caller: "digest",
            idempotencyKey: "\(String(decoding: digest.encoded, as: UTF8.self)) \(first.requestID) \(last.requestID)"
        )
        let content = policy.content(of: members.map(\.pending.content), limit: rules.contentBytes)
        for (key, _, _) in members { try turn(of: key, at: now, from: .clock) { $0.fold(into: id) } }
        let expirations = members.compactMap(\.pending.expiration)
        // The strictest one.
        let cap = members.compactMap(\.pending.limits?.cap).min { ($0.count, -$0.period) < ($1.count, -$1.period) }
        let mayHaveBeenSent = members.contains { $0.isInDoubt }
        let place = lastRequest
        try turn(of: digest, at: now, from: .clock, mayHaveBeenSent: mayHaveBeenSent) {
            // A removal of all before it must not take it when that is read again.
            if let place { $0.entry.noteApplied(place) }
            $0.send(
                .init(
                    requestID: id,
                    content: content[...],
                    expiration: expirations.count == members.count ? expirations.max() : nil,
                    trace: last.trace,
                    timer: .turn,
                    due: now,
                    channel: last.channel,
                    limits: DeliveryLimits(cap: cap)
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
