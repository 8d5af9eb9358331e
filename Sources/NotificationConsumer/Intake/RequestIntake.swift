import NotificationModel

/// Turns a record of the `requests` topic into an input of the centre, or says why it cannot be one.
struct RequestIntake: Sendable {
    /// How far a record's timestamp may lie ahead of the clock, in milliseconds: triggers are anchored at it.
    static let futureTolerance: Int64 = 5 * 60 * 1000

    let topic: String
    /// What the events and entries made of a request may have.
    var bound = RecordBound(.max)
    /// How many contents an entry can hold at one time.
    var contents = 1
    /// Bytes of content that a request may have.
    var contentBytes: Int { bound.content(contents: contents) }
    /// The partition a recipient belongs to: `murmur2(recipient) mod partitions`.
    let partition: @Sendable (NotificationKey) -> Int32

    /// - Parameters:
    ///   - life: of the topic, which the record's offset is of.
    ///   - isReadAgain: its timestamp and its size were judged when it was read first.
    /// - Throws: `ModelError` with the reason under which the record becomes a dead letter.
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
                "a request has a key application/recipient/identifier; this has none"
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
        guard let value = record.value else {
            return .removal(removal(of: key, scope: .all, anchor, life, record))
        }
        switch try RequestRecord.scan(value, key: key) {
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
            if !isReadAgain { try bound.check(content: scanned.content.count, contents: contents) }
            return .request(
                .init(
                    id: scanned.requestID ?? derivedID(of: record, life),
                    key: key,
                    position: .init(.requests, offset: record.offset, life: life),
                    version: scanned.version,
                    content: value[scanned.content],
                    plan: try plan(of: scanned, anchor: anchor),
                    expiration: scanned.expiration,
                    trace: record.trace,
                    timestamp: anchor
                )
            )
        }
    }

    private func plan(of request: ScannedRequest, anchor: Timestamp) throws(ModelError) -> CenterInput.Plan {
        guard let schedule = try Schedule(request.trigger, anchor: anchor) else {
            return .immediate(collapseWindow: request.collapseWindow ?? 0)
        }
        return .scheduled(schedule)
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

    /// A record without an id gets one from its place in the log, so that reading it again is a duplicate.
    private func derivedID(of record: Intake.Record, _ life: Int64) -> RequestID {
        .derive(topic: topic, partition: record.partition, offset: record.offset, life: life)
    }
}
