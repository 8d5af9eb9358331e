import NotificationModel
import PushSimulation

extension SimulatedDevice {
    var briefJSON: JSONValue {
        .object(of: [
            ("device", .string(name)), ("online", .bool(isOnline)), ("received", .number(receivedCount)),
            ("dropped", .number(droppedCount)),
            ("shown", .number(bundleIdentifiers.reduce(0) { $0 + shown(by: $1).count })),
        ])
    }

    func json(tokens: [(token: String, registration: DeviceRegistry.Token)]) -> JSONValue {
        .object(of: [
            ("device", .string(name)), ("online", .bool(isOnline)),
            (
                "apps",
                .array(
                    bundleIdentifiers.map { app in
                        .object(of: [
                            ("bundleIdentifier", .string(app)), ("badge", .number(badge(of: app))),
                            ("forceQuit", .bool(isForceQuit(app))), ("shown", .array(shown(by: app).map(\.json))),
                        ])
                    }
                )
            ),
            ("activities", .array(activities.map(\.json))),
            (
                "stored",
                .array(
                    storedIDs.sorted { $0.key < $1.key }.map { topic, id in
                        .object(of: [("topic", .string(topic)), ("id", .string(id))])
                    }
                )
            ),
            ("tokens", .array(tokens.map { $0.registration.json(token: $0.token) })),
            ("received", .number(receivedCount)), ("dropped", .number(droppedCount)),
        ])
    }
}

extension DeviceRegistry.Token {
    func json(token: String) -> JSONValue {
        .object(of: [
            ("token", .string(token)), ("topic", .string(topic)), ("environment", .string(environment.rawValue)),
            ("activity", activity.map(JSONValue.string)), ("ended", (ended?.at.rfc3339).map(JSONValue.string)),
        ])
    }
}

extension ShownNotification {
    var json: JSONValue {
        .object(of: [
            ("identifier", .string(identifier)), ("id", .string(id)), ("shownAt", .string(shownAt.rfc3339)),
            ("payload", JSONValue(payload: payload)),
        ])
    }
}

extension LiveActivity {
    var json: JSONValue {
        .object(of: [
            ("id", .string(id)), ("topic", .string(topic)), ("attributesType", attributesType.map(JSONValue.string)),
            ("token", .string(token)), ("channel", channel.map(JSONValue.string)),
            ("timestamp", timestamp.map(JSONValue.number)),
            ("contentState", contentState.map(JSONValue.init(payload:))),
            ("staleDate", staleDate.map(JSONValue.number)), ("dismissalDate", dismissalDate.map(JSONValue.number)),
            ("ended", .bool(hasEnded)),
        ])
    }
}

extension ReceivedPush {
    var json: JSONValue {
        .object(of: [
            ("id", .string(id)), ("pushType", .string(pushType.rawValue)), ("topic", .string(topic)),
            ("priority", .number(priority.rawValue)), ("collapseID", collapseID.map(JSONValue.string)),
            ("acceptedAt", .string(acceptedAt.rfc3339)), ("receivedAt", .string(receivedAt.rfc3339)),
            ("effect", .string(effect.name)), ("why", effect.why.map(JSONValue.string)),
            ("removed", effect.removed.map(JSONValue.number)), ("payload", JSONValue(payload: payload)),
        ])
    }
}

extension ReceivedPush.Effect {
    fileprivate var name: String {
        switch self {
        case .shown: "shown"
        case .replaced: "replaced"
        case .handed: "handed"
        case .removed: "removed"
        case .activity: "activity"
        case .ignored: "ignored"
        }
    }

    fileprivate var why: String? { if case .ignored(let why) = self { why } else { nil } }

    fileprivate var removed: Int? { if case .removed(let count) = self { count } else { nil } }
}

extension ProviderKey {
    var json: JSONValue {
        .object(of: [
            ("id", .string(id)), ("team", .string(team)),
            ("environments", .array(environments.map(\.rawValue).sorted().map(JSONValue.string))),
            ("topics", topics.map { .array($0.sorted().map(JSONValue.string)) }),
            ("related", related.map(JSONValue.string)),
        ])
    }
}

extension ConnectionSummary {
    var json: JSONValue {
        .object(of: [
            ("connection", .number(number)), ("environment", .string(environment.rawValue)),
            ("team", team.map(JSONValue.string)), ("requests", .number(requests)), ("streams", .number(streams)),
            ("waiting", .number(waiting)), ("silent", .bool(isSilent)), ("frozen", .bool(isFrozen)),
        ])
    }
}

extension APNsStatistics {
    var json: JSONValue {
        .object(of: [
            ("requests", .number(requests)), ("accepted", .number(accepted)),
            ("refused", .object(refused.sorted { $0.key < $1.key }.map { .init($0.key, .number($0.value)) })),
            ("unanswered", .number(unanswered)), ("refusedStreams", .number(refusedStreams)),
            ("goAways", .number(goAways)), ("cuts", .number(cuts)), ("connections", .number(connections)),
        ])
    }
}

extension ConnectionBehaviour {
    static let fields = [
        "maximumStreams", "firstStreams", "streamsAfterRefusal", "settingsDelay", "streamWindow", "windowDelay",
        "roundTrip", "wedgedByExpiredToken", "silencedByTokenUpdates",
    ]

    /// What a body leaves out has its default.
    init(_ fields: BodyFields) throws(ModelError) {
        self.init()
        maximumStreams = try fields.integer("maximumStreams", in: 1...10_000) ?? maximumStreams
        firstStreams = try fields.integer("firstStreams", in: 1...10_000) ?? firstStreams
        streamsAfterRefusal = try fields.integer("streamsAfterRefusal", in: 1...10_000)
        settingsDelay = try fields.seconds("settingsDelay") ?? settingsDelay
        streamWindow = try fields.integer("streamWindow", in: 1...Int(Int32.max)) ?? streamWindow
        windowDelay = try fields.seconds("windowDelay") ?? windowDelay
        roundTrip = try fields.seconds("roundTrip") ?? roundTrip
        isWedgedByExpiredToken = try fields.bool("wedgedByExpiredToken") ?? isWedgedByExpiredToken
        isSilencedByTokenUpdates = try fields.bool("silencedByTokenUpdates") ?? isSilencedByTokenUpdates
    }

    var json: JSONValue {
        .object(of: [
            ("maximumStreams", .number(maximumStreams)), ("firstStreams", .number(firstStreams)),
            ("streamsAfterRefusal", streamsAfterRefusal.map(JSONValue.number)),
            ("settingsDelay", .seconds(settingsDelay)), ("streamWindow", .number(streamWindow)),
            ("windowDelay", .seconds(windowDelay)), ("roundTrip", .seconds(roundTrip)),
            ("wedgedByExpiredToken", .bool(isWedgedByExpiredToken)),
            ("silencedByTokenUpdates", .bool(isSilencedByTokenUpdates)),
        ])
    }
}

extension Fault {
    static let fields = [
        "effect", "status", "reason", "timestamp", "retryAfter", "seconds", "share", "device", "token", "pushType",
        "environment", "connection", "remaining",
    ]

    private enum Name: String, CaseIterable {
        case answer, silence, delay, refuseStream, goAway, cut
    }

    init(_ fields: BodyFields) throws(ModelError) {
        let effect: Effect
        switch try fields.required(try fields.choice("effect", Name.self), "effect") {
        case .answer: effect = .answer(try Answer(fields))
        case .silence: effect = .silence
        case .delay: effect = .delay(try fields.required(try fields.seconds("seconds"), "seconds"))
        case .refuseStream: effect = .refuseStream
        case .goAway: effect = .goAway(try fields.choice("reason", APNsReason.self) ?? .shutdown)
        case .cut: effect = .cut
        }
        self.init(
            effect,
            share: try fields.share("share") ?? 1,
            device: try fields.text("device"),
            token: try fields.text("token"),
            pushType: try fields.choice("pushType", PushType.self),
            environment: try fields.choice("environment", DeviceRegistration.Environment.self),
            connection: try fields.integer("connection", in: 1...Int.max),
            remaining: try fields.integer("remaining", in: 1...Int.max)
        )
    }

    func json(named name: String) -> JSONValue {
        var members: [(String, JSONValue?)] = [("name", .string(name))]
        switch effect {
        case .answer(let answer):
            members += [
                ("effect", .string(Name.answer.rawValue)), ("status", .number(answer.status)),
                ("reason", answer.reason.map(JSONValue.string)),
                ("timestamp", (answer.timestamp?.rfc3339).map(JSONValue.string)),
                ("retryAfter", answer.retryAfter.map(JSONValue.number)),
            ]
        case .silence: members.append(("effect", .string(Name.silence.rawValue)))
        case .delay(let time):
            members += [("effect", .string(Name.delay.rawValue)), ("seconds", .seconds(time))]
        case .refuseStream: members.append(("effect", .string(Name.refuseStream.rawValue)))
        case .goAway(let reason):
            members += [("effect", .string(Name.goAway.rawValue)), ("reason", .string(reason.rawValue))]
        case .cut: members.append(("effect", .string(Name.cut.rawValue)))
        }
        var text: [UInt8] = []
        JSONWriter.append(number: share, to: &text)
        return .object(
            of: members + [
                ("share", .number(String(decoding: text, as: UTF8.self))), ("device", device.map(JSONValue.string)),
                ("token", token.map(JSONValue.string)), ("pushType", (pushType?.rawValue).map(JSONValue.string)),
                ("environment", (environment?.rawValue).map(JSONValue.string)),
                ("connection", connection.map(JSONValue.number)), ("remaining", remaining.map(JSONValue.number)),
            ]
        )
    }
}

extension Fault.Answer {
    fileprivate init(_ fields: BodyFields) throws(ModelError) {
        let reason = try fields.text("reason")
        let known = reason.flatMap(APNsReason.init(rawValue:))
        self.init(
            status: try fields.required(try fields.integer("status", in: 400...599) ?? known?.status, "status"),
            reason: reason,
            timestamp: try fields.timestamp("timestamp"),
            retryAfter: try fields.integer("retryAfter", in: 0...86_400)
        )
    }
}
