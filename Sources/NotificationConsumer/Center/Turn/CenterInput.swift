import NotificationModel
import NotificationState

/// The request, removal or fix in a record of an input topic. Indirect: from the intake to the turn it is passed on, not copied.
enum CenterInput: Sendable {
    case request(Request)
    indirect case removal(Removal)
    indirect case fix(Fix)
    indirect case signal(Signal)
    indirect case registration(Registration)
    indirect case claim(Claim)

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

    /// A notification to be scheduled or delivered. A class: the steps of a turn pass it on, and none copies its members.
    final class Request: Sendable {
        let id: RequestID
        let key: NotificationKey
        let position: Position
        let version: Int64?
        /// The raw JSON object.
        let content: ArraySlice<UInt8>
        /// What of the content decides its presentation; nil when it was not read yet.
        let facts: ContentFacts?
        let plan: Plan
        let expiration: Timestamp?
        /// The channel that it names.
        let channel: ChannelName?
        let trace: CarriedTrace
        /// The record's timestamp.
        let timestamp: Timestamp
        /// Whether its content is enriched before it is sent.
        let isEnriched: Bool
        /// What holds it back or limits it.
        let limits: DeliveryLimits?

        init(
            id: RequestID,
            key: NotificationKey,
            position: Position,
            version: Int64? = nil,
            content: ArraySlice<UInt8>,
            facts: ContentFacts? = nil,
            plan: Plan,
            expiration: Timestamp? = nil,
            channel: ChannelName? = nil,
            trace: CarriedTrace,
            timestamp: Timestamp,
            isEnriched: Bool = false,
            limits: DeliveryLimits? = nil
        ) {
            (self.id, self.key, self.position, self.version) = (id, key, position, version)
            (self.content, self.facts, self.plan, self.expiration) = (content, facts, plan, expiration)
            (self.channel, self.trace, self.timestamp) = (channel, trace, timestamp)
            (self.isEnriched, self.limits) = (isEnriched, limits)
        }

        /// The same request with another plan.
        func with(plan: Plan) -> Request {
            Request(
                id: id,
                key: key,
                position: position,
                version: version,
                content: content,
                facts: facts,
                plan: plan,
                expiration: expiration,
                channel: channel,
                trace: trace,
                timestamp: timestamp,
                isEnriched: isEnriched,
                limits: limits
            )
        }
    }

    /// When to deliver, derived from the trigger.
    enum Plan: Sendable {
        /// Now, or after a collapse window of this many milliseconds.
        case immediate(collapseWindow: Int64)
        /// At the occurrences of a schedule.
        case scheduled(Schedule)
        /// At the times of a calendar trigger that names no time zone, on the clock of the recipient: only the turn knows it.
        /// Indirect, so that a plan stays as small as the others.
        indirect case floating(CalendarTrigger)
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

    /// What a device, or the gateway in front of it, says; not a location.
    struct Signal: Sendable {
        /// The recipient's own key, in the application of the signal.
        var recipient: NotificationKey
        var signal: NotificationModel.Signal
        var position: Position
        var trace: CarriedTrace
        /// The record's timestamp.
        var timestamp: Timestamp
    }

    /// A registration of a device, or its end.
    struct Registration: Sendable {
        /// Application, recipient and device.
        var key: NotificationKey
        /// With the time that its app gives; nil when the device is gone.
        var registration: DeviceRegistration?
        var position: Position
        var trace: CarriedTrace
        /// The record's timestamp.
        var timestamp: Timestamp
    }

    /// Who registered a token.
    struct Claim: Sendable {
        /// The hash of the token, in place of a recipient.
        var token: NotificationKey
        var claim: TokenClaim
        var position: Position
        var trace: CarriedTrace
    }

    /// The outcome of an input, for the counters.
    enum Outcome: Hashable, Sendable {
        case applied, duplicate, superseded
        /// Of a fix: applied, too late, or of a recipient for whom no notification waits for a region.
        case located, late, unawaited
        /// Of a signal: it answers what is shown, or something else, or its device or request is not known; the last also of the
        /// end of a registration.
        case matched, unmatched, unknown
        /// Of a registration: the device is new or has changed, or only its times; or it is gone.
        case registered, refreshed, retired
        /// Of a claim.
        case claimed
        /// It contradicts what it concerns: a dead letter.
        case refused(ModelError)
        /// The removal of all entries of a recipient exceeds one piece: `PartitionCenter.proceed` continues it.
        case unfinished
    }

    var position: Position {
        switch self {
        case .request(let request): request.position
        case .removal(let removal): removal.position
        case .fix(let fix): fix.position
        case .signal(let signal): signal.position
        case .registration(let registration): registration.position
        case .claim(let claim): claim.position
        }
    }

    /// Identifies repeats; nil for what is identified by its device and time.
    var id: RequestID? {
        switch self {
        case .request(let request): request.id
        case .removal(let removal): removal.id
        case .signal(let signal): if case .response(let response) = signal.signal { response.responseID } else { nil }
        case .fix, .registration, .claim: nil
        }
    }

    /// Whether the log and the entry alone determine the outcome. With a trigger, a collapse window, an expiration or an
    /// enrichment, the outcome depends on the clock.
    var isTimeless: Bool {
        switch self {
        case .request(let request): request.isTimeless
        case .removal: true
        // The recipients' records and the entries that these change are of the next cut.
        case .fix, .signal, .registration, .claim: false
        }
    }
}

extension CenterInput.Request {
    var isTimeless: Bool {
        if case .immediate(collapseWindow: 0) = plan { return expiration == nil && !isEnriched && limits == nil }
        return false
    }
}
