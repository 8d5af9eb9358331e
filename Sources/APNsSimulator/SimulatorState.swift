import NotificationModel
import PushSimulation

/// Everything that the simulator knows, without its connections: a value that answers requests.
struct SimulatorState: Sendable {
    /// By id.
    var keys: [String: ProviderKey] = [:]
    var devices = DeviceRegistry()
    var channels = BroadcastChannels()
    var faults = Faults()
    var behaviour = ConnectionBehaviour()
    var statistics = APNsStatistics()
    var generator: SplitMix64

    /// - Parameter seed: Of what is left to chance: shares of faults, identifiers, new tokens.
    init(seed: UInt64 = .random(in: .min ... .max)) { generator = SplitMix64(seed: seed) }

    /// More are refused.
    static let keyCapacity = 10_000

    mutating func add(_ key: ProviderKey) throws(APNsSimulatorError) {
        guard keys.count < Self.keyCapacity || keys[key.id] != nil else {
            throw APNsSimulatorError("there are \(Self.keyCapacity) keys already: revoke some")
        }
        keys[key.id] = key
    }

    /// The device loses its connection, or has it again and gets what is stored.
    ///
    /// - Returns: False when it is not there.
    mutating func setOnline(_ isOnline: Bool, _ device: String, at now: Timestamp) -> Bool {
        devices.setOnline(isOnline, device, at: now, using: &generator)
    }

    /// Answers a request, with its effects on devices.
    ///
    /// - Parameter body: Only the bytes up to a little more than the limit need to be there.
    mutating func respond(
        to headers: RequestHeaders,
        body: UnsafeRawBufferPointer,
        on connection: inout ConnectionState,
        at now: Timestamp
    ) -> Outcome {
        statistics.requests += 1
        guard !connection.isSilent else { return nothing() }
        var delay = behaviour.roundTrip
        var isSilent = false
        if !faults.isEmpty {
            let (more, effect) = faults.effects(on: faultRequest(headers, connection), using: &generator)
            delay += more
            switch effect {
            case .answer(let answer):
                return finish(.init(answer, id: identifier(of: headers)), &connection, delay)
            case .refuseStream:
                statistics.refusedStreams += 1
                return Outcome(.refuseStream)
            case .goAway(let reason): return Outcome(.goAway(reason))
            case .cut:
                statistics.cuts += 1
                return Outcome(.cut)
            case .silence: isSilent = true
            case .delay, nil: break
            }
        }
        let answer = answer(headers, body, &connection, at: now)
        return isSilent ? nothing() : finish(answer, &connection, delay)
    }

    private mutating func nothing() -> Outcome {
        statistics.unanswered += 1
        return Outcome(.silence)
    }

    private func faultRequest(_ headers: RequestHeaders, _ connection: ConnectionState) -> Fault.Request {
        var request = Fault.Request(environment: connection.environment, connection: connection.number)
        request.pushType = headers.pushType
        if case .push(let token)? = try? RequestTarget(headers) {
            request.token = DeviceRegistry.normalized(token)
            request.device = request.token.flatMap { devices.tokens[$0]?.device }
        }
        return request
    }

    /// Counts an answer, and what follows from it for the connection.
    private mutating func finish(
        _ answer: Answer,
        _ connection: inout ConnectionState,
        _ delay: Duration
    ) -> Outcome {
        statistics.count(answer)
        var outcome = Outcome(.answer(answer), after: delay)
        if answer.isSuccess {
            outcome.streams = connection.announce(behaviour.maximumStreams)
        } else {
            if let streams = behaviour.streamsAfterRefusal { outcome.streams = connection.announce(streams) }
            switch answer.reason {
            case APNsReason.expiredProviderToken.rawValue where behaviour.isWedgedByExpiredToken,
                APNsReason.tooManyProviderTokenUpdates.rawValue where behaviour.isSilencedByTokenUpdates:
                connection.isSilent = true
            default: break
            }
        }
        return outcome
    }

    private func identifier(of headers: RequestHeaders) -> String? {
        headers.id.flatMap { PushHeaders.isIdentifier($0) ? $0 : nil }
    }

    private mutating func answer(
        _ headers: RequestHeaders,
        _ body: UnsafeRawBufferPointer,
        _ connection: inout ConnectionState,
        at now: Timestamp
    ) -> Answer {
        do throws(Refusal) {
            switch try RequestTarget(headers) {
            case .push(let token): return try push(to: token, headers, body, &connection, at: now)
            case .broadcast(let bundle): return try broadcast(String(bundle), headers, body, &connection, at: now)
            case .channel(let operation, let bundle):
                return try manage(operation, String(bundle), headers, body, &connection, at: now)
            }
        } catch {
            let id = identifier(of: headers) ?? DeviceRegistry.identifier(using: &generator)
            return Answer(.init(error.reason, timestamp: error.timestamp), id: id)
        }
    }

    private mutating func push(
        to token: Substring,
        _ headers: RequestHeaders,
        _ body: UnsafeRawBufferPointer,
        _ connection: inout ConnectionState,
        at now: Timestamp
    ) throws(Refusal) -> Answer {
        let push = try PushHeaders(headers, certificateTopics: connection.certificateTopics)
        try authorize(headers, PushType.bundleIdentifier(of: push.topic), &connection, at: now)
        let facts = try PayloadFacts.checked(body, limit: push.type.payloadBytes, type: push.type)
        let environment = connection.environment
        let destination = try devices.destination(of: token, headers: push, environment: environment, at: now)
        var answer = Answer(id: push.id ?? DeviceRegistry.identifier(using: &generator))
        if environment == .development { answer.uniqueID = DeviceRegistry.identifier(using: &generator) }
        if case .device(let device, let activity) = destination {
            deliver(push, body, facts, answer, to: device, activity, in: environment, at: now)
        }
        return answer
    }

    private mutating func deliver(
        _ push: PushHeaders,
        _ body: UnsafeRawBufferPointer,
        _ facts: PayloadFacts,
        _ answer: Answer,
        to device: String,
        _ activity: String?,
        in environment: DeviceRegistration.Environment,
        at now: Timestamp
    ) {
        devices.deliver(
            Push(
                id: answer.id ?? "",
                headers: push,
                environment: environment,
                payload: Array(body),
                facts: facts,
                acceptedAt: now,
                activity: activity
            ),
            to: device,
            at: now,
            using: &generator
        )
    }

    private func authorize(
        _ headers: RequestHeaders,
        _ bundleIdentifier: String,
        _ connection: inout ConnectionState,
        at now: Timestamp
    ) throws(Refusal) {
        // A client certificate counts, whatever the header says.
        if let topics = connection.certificateTopics {
            guard topics.contains(bundleIdentifier) else { throw Refusal(.topicDisallowed) }
            return
        }
        try connection.credentials.check(
            headers.authorization,
            topic: bundleIdentifier,
            environment: connection.environment,
            keys: keys,
            at: now
        )
    }

    // MARK: Broadcasts

    private mutating func broadcast(
        _ bundleIdentifier: String,
        _ headers: RequestHeaders,
        _ body: UnsafeRawBufferPointer,
        _ connection: inout ConnectionState,
        at now: Timestamp
    ) throws(Refusal) -> Answer {
        let push = try PushHeaders(broadcast: headers, bundleIdentifier: bundleIdentifier)
        try authorize(headers, bundleIdentifier, &connection, at: now)
        let environment = connection.environment
        let (id, channel) = try channels.channel(headers.channelID, bundleIdentifier, environment)
        if channel.storagePolicy == 0, push.expiration != .once { throw Refusal(.badExpirationDate) }
        let facts = try PayloadFacts.checked(body, limit: BroadcastChannels.payloadBytes, type: push.type)
        var answer = Answer(id: push.id ?? DeviceRegistry.identifier(using: &generator))
        answer.requestID = headers.requestID
        for (device, activity) in devices.subscribers(of: id, topic: push.topic, environment) {
            deliver(push, body, facts, answer, to: device, activity, in: environment, at: now)
        }
        return answer
    }

    private mutating func manage(
        _ operation: RequestTarget.ChannelOperation,
        _ bundleIdentifier: String,
        _ headers: RequestHeaders,
        _ body: UnsafeRawBufferPointer,
        _ connection: inout ConnectionState,
        at now: Timestamp
    ) throws(Refusal) -> Answer {
        try PushHeaders.check(headers)
        try authorize(headers, bundleIdentifier, &connection, at: now)
        let environment = connection.environment
        var answer = Answer(id: nil)
        answer.requestID = headers.requestID ?? DeviceRegistry.identifier(using: &generator)
        switch operation {
        case .create:
            answer.status = 201
            answer.channelID = try channels.create(bundleIdentifier, environment, body: body, using: &generator)
        case .read:
            answer.body = try channels.channel(headers.channelID, bundleIdentifier, environment).channel.json
        case .delete:
            answer.status = 204
            try channels.delete(headers.channelID, bundleIdentifier, environment)
        case .list:
            let ids = channels.list(bundleIdentifier, environment).map(JSONValue.string)
            answer.body = .object([.init("channels", .array(ids))])
        }
        return answer
    }
}

/// What a connection is, apart from its bytes.
struct ConnectionState: Sendable {
    /// Counted from 1.
    let number: Int
    let environment: DeviceRegistration.Environment
    /// The topics of its client certificate; nil without one.
    let certificateTopics: [String]?
    var credentials = ConnectionCredentials()
    /// Whether nothing is answered any more.
    var isSilent = false
    /// The announced SETTINGS_MAX_CONCURRENT_STREAMS.
    private(set) var streams: Int

    init(
        number: Int,
        environment: DeviceRegistration.Environment,
        certificateTopics: [String]? = nil,
        behaviour: ConnectionBehaviour
    ) {
        (self.number, self.environment, self.certificateTopics) = (number, environment, certificateTopics)
        streams = certificateTopics == nil ? behaviour.firstStreams : behaviour.maximumStreams
    }

    /// - Returns: What must be announced; nil when it is what was announced last.
    fileprivate mutating func announce(_ new: Int) -> Int? {
        guard new != streams else { return nil }
        streams = new
        return new
    }
}
