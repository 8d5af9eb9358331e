import NotificationModel
import NotificationState

/// Converts a record of the `requests` topic to an input of the center, or explains why it is invalid.
struct RequestIntake: Sendable {
    /// How far a record's timestamp may be ahead of the clock, in milliseconds: triggers are relative to it.
    static let futureTolerance: Int64 = 5 * 60 * 1000

    let topic: String
    /// The time zones of calendar triggers.
    let zones: TimeZones
    /// What requests may name.
    var channels = ChannelRules()
    /// The size limit of the events and entries created from a request.
    var bound = RecordBound(.max)
    /// Whether contents that ask for it are enriched.
    var enriches = false
    /// How many contents an entry can hold at the same time.
    var contents = 1
    /// The maximum bytes of content of a request.
    var contentBytes: Int { bound.content(contents: contents) }
    /// Told what of a payload of APNs no content says.
    var noteUnsaid: @Sendable ([String]) -> Void = { _ in }
    /// The partition a recipient belongs to: `murmur2(recipient) mod partitions`.
    let partition: @Sendable (NotificationKey) -> Int32

    /// - Parameters:
    ///   - life: the life of the topic to which the record's offset belongs.
    ///   - isReadAgain: the record's timestamp and size were checked at its first reading.
    /// - Throws: `ModelError` with the reason for the dead letter.
    func input(
        from record: Intake.Record,
        life: Int64 = 0,
        at now: Timestamp,
        isReadAgain: Bool = false
    ) throws(ModelError) -> CenterInput {
        guard let keyBytes = record.key else {
            throw ModelError(
                .invalid,
                field: "key",
                "the record has no key; a request needs a key application/recipient/identifier"
            )
        }
        let key = try NotificationKey(encoded: keyBytes)
        let home = partition(key)
        guard home == record.partition else {
            throw ModelError(
                .misrouted,
                field: "partition",
                "the recipient belongs to partition \(home), the record is in \(record.partition): "
                    + "partition by murmur2 of the recipient"
            )
        }
        let anchor = Timestamp(rawValue: record.timestamp ?? now.rawValue)
        guard isReadAgain || anchor.rawValue <= now.rawValue + Self.futureTolerance else {
            throw ModelError(
                .inFuture,
                field: "timestamp",
                "the record's timestamp \(anchor.rfc3339) is in the future: check the producing host's clock"
            )
        }
        guard var value = record.value else {
            return .removal(removal(of: key, scope: .all, anchor, life, record))
        }
        let received = try RequestRecord.receive(&value, key: key)
        switch received.record {
        case .removal(let scanned):
            var removal = removal(of: key, scope: scanned.scope, anchor, life, record)
            removal.version = scanned.version
            if let id = scanned.requestID { removal.id = id }
            return .removal(removal)
        case .request(let scanned):
            guard !key.isWholeRecipient else {
                throw ModelError(
                    .invalid,
                    field: "identifier",
                    "a request needs an identifier; only a removal may omit it"
                )
            }
            if !isReadAgain {
                try bound.check(content: scanned.content.count, contents: contents)
                try check(scanned.channel)
                if !received.notConverted.isEmpty { noteUnsaid(received.notConverted) }
            }
            return .request(
                .init(
                    id: scanned.requestID ?? derivedID(of: record, life),
                    key: key,
                    position: .init(.requests, offset: record.offset, life: life),
                    version: scanned.version,
                    content: value[scanned.content],
                    facts: scanned.facts,
                    plan: try plan(of: scanned, anchor: anchor),
                    expiration: scanned.expiration,
                    channel: scanned.channel,
                    trace: record.trace,
                    timestamp: anchor,
                    // What was sent at once then is not enriched now.
                    isEnriched: enriches && !isReadAgain
                        && NotificationContent.asksForEnrichment(value[scanned.content]),
                    limits: scanned.limits
                )
            )
        }
    }

    private func plan(of request: ScannedRequest, anchor: Timestamp) throws(ModelError) -> CenterInput.Plan {
        if case .location(let trigger) = request.trigger { return .region(trigger) }
        if case .calendar(let trigger) = request.trigger, trigger.timeZone == nil {
            try Schedule.check(request.trigger, at: anchor, zones: zones.database)
            return .floating(trigger)
        }
        guard let schedule = try Schedule(request.trigger, anchor: anchor, zones: zones) else {
            return .immediate(collapseWindow: request.collapseWindow ?? 0)
        }
        return .scheduled(schedule)
    }

    private func check(_ channel: ChannelName?) throws(ModelError) {
        guard let channel, channels.handover(of: channel) == .unavailable else { return }
        throw ModelError(
            .unsupportedForm,
            field: "channel",
            "this service has no channel \(channel.rawValue): add it to the setting `channels` of the consumer service"
        )
    }

    private func removal(
        of key: NotificationKey,
        scope: RemovalScope,
        _ timestamp: Timestamp,
        _ life: Int64,
        _ record: Intake.Record
    ) -> CenterInput.Removal {
        .init(
            id: derivedID(of: record, life),
            key: key,
            position: .init(.requests, offset: record.offset, life: life),
            scope: scope,
            version: nil,
            trace: record.trace,
            timestamp: timestamp
        )
    }

    /// A record without an id gets one from its position in the log, so that a second reading is a duplicate.
    private func derivedID(of record: Intake.Record, _ life: Int64) -> RequestID {
        .derive(topic: topic, partition: record.partition, offset: record.offset, life: life)
    }
}
