import NotificationModel

/// What a record of an input topic asks of a notification centre.
enum CenterInput: Sendable {
    case request(Request)
    case removal(Removal)

    /// Where a record is, and so what may be left to reading the log again.
    struct Position: Hashable, Sendable {
        var input: InputTopic
        var place: AppliedOffsets.Place

        init(_ input: InputTopic, offset: Int64, life: Int64 = 0) {
            (self.input, place) = (input, .init(life: life, offset: offset))
        }

        var offset: Int64 { place.offset }
        var life: Int64 { place.life }
    }

    /// A notification to be scheduled or delivered.
    struct Request: Sendable {
        var id: RequestID
        var key: NotificationKey
        var position: Position
        var version: Int64?
        /// The raw JSON object.
        var content: ArraySlice<UInt8>
        var plan: Plan
        var expiration: Timestamp?
        var trace: CarriedTrace
        /// The record's.
        var timestamp: Timestamp
    }

    /// What a trigger asks for, seen from the request record.
    enum Plan: Sendable {
        /// Now, or after a collapse window of so many milliseconds.
        case immediate(collapseWindow: Int64)
        /// At the occurrences of a schedule.
        case scheduled(Schedule)
    }

    /// A removal of one identifier, or of all of a recipient's when the key's identifier is empty.
    struct Removal: Sendable {
        var id: RequestID
        var key: NotificationKey
        var position: Position
        var scope: RemovalScope
        var version: Int64?
        var trace: CarriedTrace
        /// The record's.
        var timestamp: Timestamp
    }

    /// What became of an input, for counting.
    enum Outcome: Hashable, Sendable {
        case applied, duplicate, superseded
        /// A removal of everything a recipient has is larger than one piece: `PartitionCenter.proceed` continues it.
        case unfinished
    }

    /// The record's.
    var position: Position {
        switch self {
        case .request(let request): request.position
        case .removal(let removal): removal.position
        }
    }

    /// What its repeats are known by.
    var id: RequestID {
        switch self {
        case .request(let request): request.id
        case .removal(let removal): removal.id
        }
    }

    /// Whether its outcome follows from the log and the entry alone. What has a trigger, a collapse window or an expiration is
    /// decided by the clock.
    var isTimeless: Bool {
        guard case .request(let request) = self else { return true }
        return request.isTimeless
    }
}

extension CenterInput.Request {
    var isTimeless: Bool {
        if case .immediate(collapseWindow: 0) = plan { return expiration == nil }
        return false
    }
}
