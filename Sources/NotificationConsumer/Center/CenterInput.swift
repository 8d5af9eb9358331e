import NotificationModel

/// The request, removal or fix in a record of an input topic.
enum CenterInput: Sendable {
    case request(Request)
    case removal(Removal)
    case fix(Fix)

    /// The position of a record in its input topic; it identifies what a replay can reproduce.
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
        /// The channel that it names.
        var channel: ChannelName?
        var trace: CarriedTrace
        /// The record's timestamp.
        var timestamp: Timestamp
        /// Whether its content is enriched before it is sent.
        var isEnriched = false
    }

    /// When to deliver, derived from the trigger.
    enum Plan: Sendable {
        /// Now, or after a collapse window of this many milliseconds.
        case immediate(collapseWindow: Int64)
        /// At the occurrences of a schedule.
        case scheduled(Schedule)
        /// When a device crosses the boundary of a region. Indirect, so that a plan stays as small as the others.
        indirect case region(LocationTrigger)
    }

    /// Removes one identifier, or all identifiers of a recipient when the key's identifier is empty.
    struct Removal: Sendable {
        var id: RequestID
        var key: NotificationKey
        var position: Position
        var scope: RemovalScope
        var version: Int64?
        var trace: CarriedTrace
        /// The record's timestamp.
        var timestamp: Timestamp
    }

    /// A device's location, in the regions of its recipient.
    struct Fix: Sendable {
        var recipient: String
        var fix: LocationFix
        var position: Position
        var trace: CarriedTrace
        /// The record's timestamp.
        var timestamp: Timestamp
    }

    /// The outcome of an input, for the counters.
    enum Outcome: Hashable, Sendable {
        case applied, duplicate, superseded
        /// Of a fix: applied, too late, or of a recipient for whom no notification waits for a region.
        case located, late, unawaited
        /// The removal of all entries of a recipient exceeds one piece: `PartitionCenter.proceed` continues it.
        case unfinished
    }

    var position: Position {
        switch self {
        case .request(let request): request.position
        case .removal(let removal): removal.position
        case .fix(let fix): fix.position
        }
    }

    /// Identifies repeats; nil for a fix, which is identified by its device and time.
    var id: RequestID? {
        switch self {
        case .request(let request): request.id
        case .removal(let removal): removal.id
        case .fix: nil
        }
    }

    /// Whether the log and the entry alone determine the outcome. With a trigger, a collapse window, an expiration or an
    /// enrichment, the outcome depends on the clock.
    var isTimeless: Bool {
        switch self {
        case .request(let request): request.isTimeless
        case .removal: true
        // The sides and the entries it changes are of the next cut.
        case .fix: false
        }
    }
}

extension CenterInput.Request {
    var isTimeless: Bool {
        if case .immediate(collapseWindow: 0) = plan { return expiration == nil && !isEnriched }
        return false
    }
}
