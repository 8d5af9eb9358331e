import Testing

@testable import NotificationModel
@testable import carillon

@Suite("Parsing of the command line")
struct ArgumentTests {
    @Test(arguments: [
        ("90", 90_000), ("1.5", 1_500), ("0", 0), ("250ms", 250), ("15m", 900_000), ("7d", 604_800_000), ("0.0005", 0),
    ])
    func `a time is seconds, or has a unit`(_ text: String, _ milliseconds: Int64) {
        #expect(SpanArgument(argument: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: ["", "-1", "abc", "15 m", "1e3", "m", "99999999999999999999", "9999999999d", "٣"])
    func `an invalid time is refused`(_ text: String) {
        #expect(SpanArgument(argument: text) == nil)
        #expect(MomentArgument(argument: text) == nil)
    }

    @Test func `a moment is an instant, or a time before or after now`() throws {
        let now = Timestamp(rawValue: 1_000_000)
        let instant = try #require(MomentArgument(argument: "2026-11-21T09:00:00+08:00"))
        #expect(instant.before(now) == instant.after(now))
        #expect(instant.after(now).rfc3339 == "2026-11-21T01:00:00.000Z")
        let span = try #require(MomentArgument(argument: "15m"))
        #expect(span.before(now).rawValue == 100_000)
        #expect(span.after(now).rawValue == 1_900_000)
    }

    @Test func `colours: on a terminal, unless NO_COLOR or TERM=dumb; an explicit choice overrides both`() {
        func isOn(_ choice: ColorChoice, _ environment: [String: String] = [:], terminal: Bool) -> Bool {
            choice.isOn(environment: environment, isTerminal: terminal)
        }
        #expect(isOn(.auto, terminal: true) && !isOn(.auto, terminal: false))
        #expect(!isOn(.auto, ["NO_COLOR": "1"], terminal: true))
        #expect(isOn(.auto, ["NO_COLOR": ""], terminal: true))
        #expect(!isOn(.auto, ["TERM": "dumb"], terminal: true))
        #expect(isOn(.always, ["NO_COLOR": "1"], terminal: false))
        #expect(!isOn(.never, terminal: true))
    }

    @Test(arguments: [
        ["send", "notification"], ["send", "notification", "--recipient", "a", "--identifier", "b"],
        ["send", "notification", "--recipient", "a", "--identifier", "", "--title", "T"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "30", "--repeats"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--repeats"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "0"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--at",
            "2001-01-01T00:00:00Z",
        ],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--at", "tomorrow"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--expiration",
            "2001-01-01T00:00:00Z",
        ],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--badge", "-1"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--count", "0"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--rate", "0"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--rate", "nan"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--count", "2",
            "--request-id", "same",
        ],
        ["send", "notification", "--file", "x", "--title", "T"],
        ["send", "notification", "--file", "x", "--trigger", "{}"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--trigger", "{"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--trigger",
            #"{"type":"push"}"#, "--in", "30",
        ],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--trigger",
            #"{"type":"calendar","dateComponents":{"month":2,"day":30}}"#,
        ],
        ["send", "removal", "--recipient", "a"], ["send", "removal", "--identifier", "a"],
        ["send", "removal", "--recipient", "a", "--identifier", ""],
        ["send", "removal", "--recipient", "a", "--identifier", "b", "--all-identifiers"],
        ["send", "removal", "--recipient", "a", "--identifier", "b", "--state", "some"],
        ["send", "event"], ["send", "event", "--type", ""], ["send", "event", "--type", "a", "--data", "{"],
        ["send", "event", "--type", "a", "--id", "same", "--count", "2"],
        ["send", "event", "--type", "a", "--extension", "traceparent"],
        ["send", "event", "--type", "a", "--extension", "Not-Legal=1"],
        ["send", "event", "--file", "x", "--data", "{}"],
        ["send", "event", "--type", "a", "--timeout", "1ms"], ["send", "event", "--type", "a", "-X", "novalue"],
        ["send", "location", "--recipient", "a", "--device", "b", "--latitude", "91", "--longitude", "1"],
        ["send", "response", "--recipient", "a", "--identifier", "b"],
        ["send", "response", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--action", ""],
        ["send", "response", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--text", "\u{7}"],
        ["send", "receipt", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--device", "d"],
        [
            "send", "receipt", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--device", "d",
            "--receipt",
            "seen",
        ],
        [
            "send", "report", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--device", "d",
            "--outcome",
            "lost",
        ],
        ["send", "app-state", "--recipient", "a", "--device", "d", "--state", "foreground", "--badge=-1"],
        [
            "send", "app-state", "--recipient", "a", "--device", "d", "--state", "background", "--at",
            "2999-01-01T00:00:00Z",
        ],
        ["device", "add", "--recipient", "a", "--device", "d", "--platform", "apns", "--token", "xyz"],
        [
            "device", "add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t", "--setting",
            "sound",
        ],
        ["device", "add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t", "--locale", "a b"],
        ["device", "add", "--recipient", "a", "--device", "", "--platform", "fcm", "--token", "t"],
        ["device", "remove", "--recipient", "a"], ["device", "list"],
        ["tail"], ["tail", "a b"], ["tail", "a", "--count", "0"], ["tail", "a", "--since", "1m", "--from", "end"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--user-info", "no pair"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--user-info", "{"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--user-info", "a=1", "--user-info",
            "{\"a\":2}",
        ],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--collapse-window", "9d"],
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--version-number=-1"],
        ["send", "notification", "--file", "x", "--user-info", "a=1"],
        ["rules", "check", "a", "--event", "-", "--event", "-"],
        ["tail", "deliveries", "--type", "nosuch"], ["tail", "carillon.requests", "--type", "delivered"],
        ["tail", "state", "--type", "request"],
        ["tail", "a", "--color", "blue"], ["tail", "a", "--no-such-option"], ["no-such-command"],
        ["media", "fetch", "https://a.example.com/", "-"], ["media", "fetch", "--concurrency", "0"],
        ["media", "fetch", "--timeout", "1ms"], ["media", "fetch", "--timeout", "11m"],
        ["media", "fetch", "--internal-origin", "http://a/b"], ["media", "fetch", "--output", ""],
    ])
    func `invalid usage is refused with status 64`(_ arguments: [String]) throws {
        let refused = try #require(refusal(arguments))
        #expect(refused.status == 64)
        #expect(!refused.message.isEmpty)
    }

    @Test(arguments: [
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "60", "--repeats"],
        ["send", "notification", "--recipient", "a-{n}", "--identifier", "b", "--body", "{n}", "--count", "5"],
        ["send", "notification", "--file", "-", "--recipient", "a", "--count", "3"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--trigger",
            #"{"type":"calendar","dateComponents":{"hour":9},"timeZone":"Europe/Berlin","repeats":true}"#,
        ],
        ["send", "removal", "--recipient", "a", "--all-identifiers"],
        ["send", "removal", "--recipient", "a", "--identifier", "b", "--state", "delivered"],
        [
            "send", "notification", "--recipient", "a", "--identifier", "b", "--user-info", "{\"n\":{n}}",
            "--user-info",
            "a=b=c", "--collapse-window", "10", "--version-number", "7", "--count", "2",
        ],
        ["send", "response", "--recipient", "a", "--identifier", "b", "--request-id", "q"],
        [
            "send", "response", "--recipient", "a", "--identifier", "b", "--request-id", "q", "--action", "reply",
            "--text", "",
        ],
        [
            "send", "receipt", "--recipient", "a-{n}", "--identifier", "b", "--request-id", "q", "--device", "d",
            "--receipt", "opened", "--count", "3",
        ],
        ["send", "app-state", "--recipient", "a", "--device", "d", "--state", "foreground", "--badge", "0"],
        [
            "device", "add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t", "--setting",
            "sound=disabled", "--setting", "badge=enabled", "--url", "https://[::1]:8443",
        ],
        ["device", "remove", "--recipient", "a", "--device", "d"], ["device", "list", "--recipient", "a", "--json"],
        ["tail", "signals", "--type", "app-state"], ["tail", "deliveries", "--type", "device.retired"],
        ["tail", "requests", "--type", "carillon.notification.removal.v1"], ["tail", "state", "--type", "marker"],
        ["tail", "business-events", "--type", "nosuch"], ["tail", "dead-letters", "--type", "com.example.a"],
        [
            "send", "event", "--type", "a", "--data", #"{"minute":{n}}"#, "--id", "i-{n}", "--count", "2", "--rate",
            "0.5",
        ],
        ["tail", "deliveries", "--type", "delivered", "--type", "expired", "--no-follow", "--json"],
        ["tail", "my.topic", "--since", "2026-11-21T09:00:00Z", "-X", "security.protocol=ssl", "--timeout", "30"],
    ])
    func `valid usage is accepted`(_ arguments: [String]) {
        #expect(refusal(arguments) == nil)
    }

    @Test func `a message names the mistake`() {
        #expect(refusal(["send", "event", "--type", "a", "--data", "{"])?.message.contains("invalid at data") == true)
        let interval = refusal([
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "30", "--repeats",
        ])
        #expect(interval?.message.contains("trigger.timeInterval") == true)
        #expect(
            refusal(["tail", "deliveries", "--type", "deliverd"])?.message.contains("did you mean 'delivered'?") == true
        )
        #expect(
            refusal(["tail", "deliveries", "--type", "x"])?.message.contains("cancellation.missed, removed") == true
        )
        // It may be a password.
        #expect(refusal(["tail", "a", "-X", "=secret"])?.message.contains("secret") == false)
    }

    /// A misspelt option is reported first, before missing ones.
    @Test(arguments: [
        ["local"], ["broker"], ["send", "notification"], ["send", "removal"], ["send", "event"], ["tail", "a"],
        ["rules", "check", "a"], ["simulate"], ["media", "fetch"],
    ])
    func `an unknown option is reported with the option it probably means`(_ command: [String]) throws {
        let refused = try #require(refusal(command + ["--no-such-option"]))
        #expect(refused.status == 64)
        #expect(refused.message.contains("Unknown option '--no-such-option'"), "\(refused.message)")
        let title = refusal(["send", "notification", "--recipient", "a", "--identifier", "b", "--titel", "T"])
        #expect(title?.message == "Unknown option '--titel'. Did you mean '--title'?")
        #expect(refusal(["send", "event", "--typ", "a"])?.message == "Unknown option '--typ'. Did you mean '--type'?")
        #expect(refusal(["send", "removal", "--recipeint", "a"])?.message.contains("'--recipeint'") == true)
    }

    @Test(arguments: [
        (["--user-info", "x"], "--user-info: "), (["--version-number=-1"], "--version-number: "),
        (["--collapse-window", "9d"], "--collapse-window: "), (["--in", "0"], "--in: "),
        (["--badge=-1"], "--badge: "),
        (["--request-id", ""], "--request-id: "),
    ])
    func `a value that the model refuses is reported with its option`(_ options: [String], _ start: String) {
        let base = ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T"]
        #expect(
            refusal(base + options)?.message.hasPrefix(start) == true,
            "\(String(describing: refusal(base + options)))"
        )
        #expect(refusal(["send", "event", "--type", "a", "--data", "{"])?.message.hasPrefix("--data: ") == true)
        #expect(
            refusal(["send", "event", "--type", "a", "--extension", "No-t=1"])?.message.hasPrefix("--extension: ")
                == true
        )
    }

    @Test(arguments: [
        [], ["local"], ["broker"], ["send"], ["send", "notification"], ["send", "removal"], ["send", "event"], ["tail"],
        ["media"], ["media", "fetch"], ["send", "response"], ["send", "receipt"], ["send", "report"],
        ["send", "app-state"], ["device"], ["device", "add"], ["device", "remove"], ["device", "list"],
    ])
    func `every command has help with an example or its subcommands, and a version`(_ command: [String]) throws {
        let help = try #require(helpText(of: command))
        let hasExample = help.contains("\n  carillon \(command.joined(separator: " "))")
        #expect(hasExample || help.contains("SUBCOMMANDS:"), "\(help)")
        // Lines that the width of a terminal breaks cannot be copied.
        #expect(!help.split(separator: "\n").contains { $0.hasPrefix("  carillon ") && $0.count > 79 })
        let version = try #require(refusal(command + ["--version"]))
        #expect(version.status == 0)
        #expect(version.message.hasPrefix("carillon "))
    }
}
