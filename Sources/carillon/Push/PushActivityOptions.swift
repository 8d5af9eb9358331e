import ArgumentParser
import NotificationChannels
import NotificationModel

/// A push that starts, updates or ends a Live Activity; its alert is that of --title, --body and --sound.
struct PushActivityOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Start, update or end a Live Activity.", valueName: "event"))
    var event: LiveActivityPush.Event.Name?

    @Option(
        help: ArgumentHelp("Orders the pushes of an activity: seconds since 1970. Default: now.", valueName: "seconds")
    )
    var timestamp: Int64?

    @Option(help: ArgumentHelp("The state, a JSON object.", valueName: "json"))
    var contentState: String?

    @Option(help: ArgumentHelp("Of a start: the name of the app's type of attributes.", valueName: "name"))
    var attributesType: String?

    @Option(help: ArgumentHelp("Of a start: the attributes, a JSON object.", valueName: "json"))
    var attributes: String?

    @Option(help: ArgumentHelp("When it counts as outdated: RFC 3339, or a time from now.", valueName: "instant"))
    var staleDate: MomentArgument?

    @Option(help: ArgumentHelp("Of an end: when it disappears: RFC 3339, or a time from now.", valueName: "instant"))
    var dismissalDate: MomentArgument?

    @Flag(help: "Of a start: the activity gets a token for its updates.")
    var inputPushToken = false

    @Option(help: ArgumentHelp("Of a start: the activity gets its updates by this channel.", valueName: "id"))
    var inputPushChannel: String?

    func validate() throws {
        guard !Validation.isLater else { return }
        let others: [(String, Bool)] = [
            ("--timestamp", timestamp != nil), ("--content-state", contentState != nil),
            ("--attributes-type", attributesType != nil), ("--attributes", attributes != nil),
            ("--stale-date", staleDate != nil), ("--dismissal-date", dismissalDate != nil),
            ("--input-push-token", inputPushToken), ("--input-push-channel", inputPushChannel != nil),
        ]
        if event == nil, let given = others.first(where: \.1) { throw ValidationError("\(given.0) needs --event") }
        let ofStart = ["--attributes-type", "--attributes", "--input-push-token", "--input-push-channel"]
        for (name, isGiven) in others where isGiven && event != nil {
            if ofStart.contains(name), event != .start { throw ValidationError("\(name) is for --event start") }
            if name == "--dismissal-date", event != .end { throw ValidationError("\(name) is for --event end") }
        }
        guard !inputPushToken || inputPushChannel == nil else {
            throw ValidationError("--input-push-token and --input-push-channel exclude each other")
        }
        guard event != .start || (attributesType != nil && attributes != nil) else {
            throw ValidationError("--event start needs --attributes-type and --attributes")
        }
        _ = try (object(contentState, "--content-state"), object(attributes, "--attributes"))
    }

    /// The activity's push; nil without `--event`.
    ///
    /// - Parameter content: Its texts become the alert.
    /// - Throws: ``CommandFailure`` for an alert without title or body.
    func push(_ content: PushContentOptions, at now: Timestamp) throws -> LiveActivityPush? {
        guard let event else { return nil }
        let alert = try alert(content)
        return LiveActivityPush(
            try self.event(event, at: now),
            timestamp: timestamp ?? now.rawValue / 1000,
            contentState: try object(contentState, "--content-state"),
            alert: alert,
            staleDate: staleDate?.after(now),
            relevanceScore: content.relevanceScore
        )
    }

    private func event(_ name: LiveActivityPush.Event.Name, at now: Timestamp) throws -> LiveActivityPush.Event {
        switch name {
        case .start:
            let updates: LiveActivityPush.Updates? =
                inputPushToken ? .token : inputPushChannel.map { .channel(id: $0) }
            return .start(
                attributesType: attributesType ?? "",
                attributes: try object(attributes, "--attributes") ?? .object([]),
                updates: updates
            )
        case .update: return .update
        case .end: return .end(dismissal: dismissalDate?.after(now))
        }
    }

    private func alert(_ content: PushContentOptions) throws -> LiveActivityPush.Alert? {
        func text(_ plain: String?, _ key: String?, _ arguments: [String]) -> LiveActivityPush.Alert.Text? {
            if let key { return .localized(Localization(key: key, arguments: arguments.isEmpty ? nil : arguments)) }
            return plain.map { .plain($0) }
        }
        let title = text(content.title, content.titleKey, content.titleArgument)
        let body = text(content.body, content.bodyKey, content.bodyArgument)
        guard title != nil || body != nil || content.sound != nil else { return nil }
        guard let title, let body else {
            throw CommandFailure("the alert of an activity needs a title and a body", status: ExitStatus.usage)
        }
        return LiveActivityPush.Alert(title: title, body: body, sound: content.sound)
    }

    private func object(_ text: String?, _ option: String) throws -> JSONValue? {
        guard let text else { return nil }
        guard let value = try? JSONValue.parse(Array(text.utf8)), value.objectValue != nil else {
            throw ValidationError("\(option) takes a JSON object")
        }
        return value
    }
}
