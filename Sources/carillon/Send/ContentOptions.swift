import ArgumentParser
import NotificationModel

/// The content and trigger of a notification.
struct ContentOptions: ParsableArguments {
    @Option(help: ArgumentHelp("First line.", valueName: "text"))
    var title: String?

    @Option(help: ArgumentHelp("Second line.", valueName: "text"))
    var subtitle: String?

    @Option(help: ArgumentHelp("The text.", valueName: "text"))
    var body: String?

    @Option(help: ArgumentHelp("Number on the icon; 0 removes it.", valueName: "n"))
    var badge: Int64?

    @Option(help: ArgumentHelp("Sound to play; 'default' is the system's default.", valueName: "name"))
    var sound: String?

    @Option(help: ArgumentHelp("Category, which selects the actions.", valueName: "name"))
    var category: String?

    @Option(help: ArgumentHelp("Thread, which groups related notifications.", valueName: "name"))
    var thread: String?

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("When it is due: seconds from now, or a time such as 15m.", valueName: "time")
    )
    var delay: SpanArgument?

    @Option(
        help: ArgumentHelp(
            "When it is due, in RFC 3339; it becomes an interval from the moment of sending.",
            valueName: "instant"
        )
    )
    var at: Timestamp?

    @Flag(help: "Repeat every --in.")
    var repeats = false

    @Option(
        name: .customLong("trigger"),
        help: ArgumentHelp("Any other trigger, in JSON as in a request.", valueName: "json")
    )
    var triggerJSON: String?

    @Option(
        help: ArgumentHelp("Do not deliver from this time on: RFC 3339, or a time from now.", valueName: "instant")
    )
    var expiration: MomentArgument?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a newer one before sending: seconds, or a time such as 10s.",
            valueName: "time"
        )
    )
    var collapseWindow: SpanArgument?

    @Option(
        help:
            "How it leaves the consumer service, which must have this channel. Default: the one that its settings name."
    )
    var channel: ChannelName?

    @Option(
        help: ArgumentHelp("Orders requests: one with a smaller number arrives too late.", valueName: "n")
    )
    var versionNumber: Int64?

    @Option(
        help: ArgumentHelp(
            "Data for the app: a JSON object, or name=value for a text; repeatable.",
            valueName: "json"
        )
    )
    var userInfo: [String] = []

    @Option(
        name: .customLong("request-id"),
        help: ArgumentHelp(
            "Id of the request: a repeat is dropped as a duplicate. Random if not given.",
            valueName: "id"
        )
    )
    var requestID: String?

    /// Whether any option was given.
    var isGiven: Bool {
        let texts = [title, subtitle, body, sound, category, thread, triggerJSON, requestID]
        return texts.contains { $0 != nil } || [badge, versionNumber].contains { $0 != nil }
            || [delay, collapseWindow].contains { $0 != nil } || channel != nil || at != nil || repeats
            || expiration != nil
            || !userInfo.isEmpty
    }

    /// The option for a field of a request.
    func option(of field: String) -> String? {
        switch field {
        case "content.categoryIdentifier": "--category"
        case "content.threadIdentifier": "--thread"
        case _ where field.hasPrefix("content.userInfo"): "--user-info"
        case _ where field.hasPrefix("content."):
            field.split(separator: ".").dropFirst().first.map { "--\($0)" }
        case _ where field.hasPrefix("trigger") && triggerJSON != nil: "--trigger"
        case "trigger.repeats": "--repeats"
        case _ where field.hasPrefix("trigger"): at == nil ? "--in" : "--at"
        case "collapseWindow": "--collapse-window"
        case "version": "--version-number"
        case "requestId": "--request-id"
        case "expiration", "channel", "recipient", "identifier", "application": "--\(field)"
        default: nil
        }
    }

    /// - Throws: `ValidationError` for mistakes that the model cannot detect.
    func validate(at now: Timestamp) throws {
        guard delay == nil || at == nil else {
            throw ValidationError("--in and --at exclude each other")
        }
        guard triggerJSON == nil || delay == nil && at == nil && !repeats else {
            throw ValidationError("--trigger excludes --in, --at and --repeats")
        }
        guard !repeats || delay != nil else {
            throw ValidationError("--repeats needs --in")
        }
        if let at, at <= now {
            throw ValidationError("--at is in the past")
        }
        if let expiration, expiration.after(now) <= now {
            throw ValidationError("--expiration is in the past")
        }
    }

    /// - Parameter number: The number for `{n}`; nil leaves it unchanged.
    func content(_ number: Int?) throws(ModelError) -> NotificationContent {
        func filled(_ text: String?) -> String? {
            number.map { number in text.map { Placeholder.filled($0, number) } } ?? text
        }
        return NotificationContent(
            title: filled(title),
            subtitle: filled(subtitle),
            body: filled(body),
            badge: badge,
            sound: sound.map { NotificationSound(name: $0) },
            categoryIdentifier: filled(category),
            threadIdentifier: filled(thread),
            userInfo: try userInfo.isEmpty
                ? nil
                : UserInfoArguments.object(
                    of: userInfo.map { text in number.map { Placeholder.filled(text, $0) } ?? text }
                )
        )
    }

    /// - Parameter number: As above.
    func requestID(_ number: Int?) throws(ModelError) -> RequestID? {
        guard let requestID else { return nil }
        do throws(ModelError) {
            return try RequestID(text: number.map { Placeholder.filled(requestID, $0) } ?? requestID)
        } catch {
            throw ModelError(error.reason, field: "requestId", error.detail)
        }
    }

    /// - Parameter now: The record's timestamp, the base of an interval.
    func trigger(at now: Timestamp) throws(ModelError) -> NotificationTrigger {
        if let triggerJSON { return try Self.trigger(triggerJSON, at: now) }
        if let delay {
            return .timeInterval(TimeIntervalTrigger(timeInterval: delay.seconds, repeats: repeats))
        }
        guard let at else { return .push }
        // The time may come while many records are sent.
        let left = at.rawValue - now.rawValue
        return left > 0 ? .timeInterval(TimeIntervalTrigger(timeInterval: Double(left) / 1_000)) : .push
    }

    /// - Throws: also for a trigger that never fires, if this machine has time zone data.
    private static func trigger(_ json: String, at now: Timestamp) throws(ModelError) -> NotificationTrigger {
        do throws(ModelError) {
            let trigger = try NotificationTrigger(json: Array(json.utf8))
            if let zones = try? TimeZones.system(standard: "UTC") {
                _ = try Schedule(trigger, anchor: now, zones: zones)
            }
            return trigger
        } catch {
            let field = error.field.map { $0.hasPrefix("trigger") ? $0 : "trigger.\($0)" }
            throw ModelError(error.reason, field: field ?? "trigger", error.detail)
        }
    }
}
