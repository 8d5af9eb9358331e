import NotificationModel
import NotificationState

/// Digests: the notifications of a group that a recipient got within a window are sent as one. Each member waits in its own
/// entry, so that it can be replaced and cancelled; the recipient's record has the list of the members.
extension PartitionCenter {
    private typealias Member = (key: NotificationKey, pending: StateEntry.Pending, isInDoubt: Bool)

    /// How long members wait when the digest before is still being sent, in milliseconds.
    private static let patience: Int64 = 10_000

    /// The window of a member has ended: folds the members that nothing holds back into one notification, and sends it. One that
    /// is alone is sent as it is. The others go on waiting, each until its own quiet hours end, so that it can still be replaced
    /// and cancelled. While the digest before is not sent yet, all of them wait.
    mutating func foldDigest(of member: NotificationKey, at now: Timestamp) throws {
        let recipient = member.ofRecipient
        guard let waiting = try collected(member, at: now), let policy = waiting.limits?.digest,
            let group = policy.group(of: waiting.content)
        else { return }
        let window = try self.recipient(of: recipient)?.digests.first { $0.group.hasSameUTF8(as: group) }
        let hasExpired = waiting.expiration.map { $0 <= now } ?? false
        // Or a part of the changelog was lost.
        guard !hasExpired, let window, window.members.containsUTF8(of: member.identifier) else {
            return try releaseAlone(member, at: now)
        }
        // Held back before, it joins what was collected since.
        if window.until > now { return try postpone(member, until: window.until, at: now) }
        let digest = try recipient.withIdentifier(Self.identifier(ofDigest: group))
        if try isBeingSent(digest, at: now) {
            return try postpone(member, until: now.adding(milliseconds: Self.patience), at: now)
        }
        guard try hold(member, waiting, at: now) == nil else { return }
        let (members, others, held) = try members(of: window, group, at: now, recipient)
        var record = try self.recipient(of: recipient) ?? RecipientRecord()
        record.endDigest(of: group, except: held)
        keep(record, of: recipient, at: now)
        if members.count > 1 {
            try fold(members, by: policy, into: digest, at: now)
        } else if let alone = members.first?.key {
            try releaseAlone(alone, at: now)
        }
        for key in others { try releaseAlone(key, at: now) }
    }

    /// A member goes on waiting. Nothing of it is written: a digest that is retried for hours must not write its group again and
    /// again.
    private mutating func postpone(_ member: NotificationKey, until instant: Timestamp, at now: Timestamp) throws {
        // What its targets wait for begins.
        try turn(of: member, at: now, from: .clock) { _ in }
        if let slot = inUse.slot(of: member) { inUse.rearm(slot, at: instant) }
    }

    private mutating func isBeingSent(_ digest: NotificationKey, at now: Timestamp) throws -> Bool {
        guard let entry = try slot(of: digest, at: now).map({ inUse.entry(of: $0) }) else { return false }
        if case .turn? = entry.pending?.timer { return true }
        return entry.handover.map { !$0.isClosed } ?? false
    }

    /// A member waits until the end of its quiet hours.
    ///
    /// - Returns: that end; nil when it is not quiet, or quiet hours suppress it.
    private mutating func hold(
        _ member: NotificationKey,
        _ pending: StateEntry.Pending,
        at now: Timestamp
    ) throws -> Timestamp? {
        let end = try turn(ofRecipient: member.ofRecipient, at: now) { turn in
            turn.isSilenced(pending.limits, pending.content)
                ? nil : turn.quietEnd(holding: pending.content, pending.limits)
        }
        guard let end, end > now else { return nil }
        try turn(of: member, at: now, from: .clock) { $0.postpone(until: end) }
        return end
    }

    /// - Returns: the members that go into the digest, those that end now, because they have expired or quiet hours suppress
    ///   them, and the identifiers of those that quiet hours hold back.
    private mutating func members(
        of window: RecipientRecord.DigestWindow,
        _ group: String,
        at now: Timestamp,
        _ recipient: NotificationKey
    ) throws -> (members: [Member], others: [NotificationKey], held: [String]) {
        var (members, others, held): ([Member], [NotificationKey], [String]) = ([], [], [])
        for identifier in window.members {
            let key = try recipient.withIdentifier(identifier)
            guard let pending = try collected(key, at: now), pending.limits?.digest?.group(of: pending.content) == group
            else { continue }
            let (isSilenced, isQuiet) = try turn(ofRecipient: recipient, at: now) { turn in
                (
                    turn.isSilenced(pending.limits, pending.content),
                    turn.quietEnd(holding: pending.content, pending.limits).map { $0 > now } ?? false
                )
            }
            if isSilenced || pending.expiration.map({ $0 <= now }) ?? false {
                others.append(key)
            } else if isQuiet {
                held.append(identifier)
            } else {
                members.append((key, pending, try entry(of: key)?.isInDoubt(pending.showing) ?? false))
            }
        }
        return (members, others, held)
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
        begunDigests += 1
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
        try turn(of: key, at: now, from: .clock) { turn in
            if let pending = turn.entry.pending { turn.leaveDigest(pending) }
            turn.fire()
        }
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
