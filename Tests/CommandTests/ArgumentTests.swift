import Testing

@testable import NotificationModel
@testable import carillon

@Suite("What the command line understands")
struct ArgumentTests {
    @Test(arguments: [
        ("90", 90_000), ("1.5", 1_500), ("0", 0), ("250ms", 250), ("15m", 900_000), ("7d", 604_800_000), ("0.0005", 0),
    ])
    func `a time is seconds, or has a unit`(_ text: String, _ milliseconds: Int64) {
        #expect(SpanArgument(argument: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: ["", "-1", "abc", "15 m", "1e3", "m", "99999999999999999999", "9999999999d", "٣"])
    func `what is no time is refused`(_ text: String) {
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

    @Test func `colours: on a terminal, unless NO_COLOR or a dumb terminal says no; what is asked for by name wins`() {
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
        ["tail"], ["tail", "a b"], ["tail", "a", "--count", "0"], ["tail", "a", "--since", "1m", "--from", "end"],
        ["tail", "a", "--color", "blue"], ["tail", "a", "--no-such-option"], ["no-such-command"],
    ])
    func `wrong usage is refused with status 64`(_ arguments: [String]) throws {
        let refused = try #require(refusal(arguments))
        #expect(refused.status == 64)
        #expect(!refused.message.isEmpty)
    }

    @Test(arguments: [
        ["send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "60", "--repeats"],
        ["send", "notification", "--recipient", "a-{n}", "--identifier", "b", "--body", "{n}", "--count", "5"],
        ["send", "notification", "--file", "-", "--recipient", "a", "--count", "3"],
        ["send", "removal", "--recipient", "a", "--all-identifiers"],
        ["send", "removal", "--recipient", "a", "--identifier", "b", "--state", "delivered"],
        [
            "send", "event", "--type", "a", "--data", #"{"minute":{n}}"#, "--id", "i-{n}", "--count", "2", "--rate",
            "0.5",
        ],
        ["tail", "deliveries", "--type", "delivered", "--type", "expired", "--no-follow", "--json"],
        ["tail", "my.topic", "--since", "2026-11-21T09:00:00Z", "-X", "security.protocol=ssl", "--timeout", "30"],
    ])
    func `right usage is understood`(_ arguments: [String]) {
        #expect(refusal(arguments) == nil)
    }

    @Test func `a message names what is wrong`() {
        #expect(refusal(["send", "event", "--type", "a", "--data", "{"])?.message.contains("invalid at data") == true)
        let interval = refusal([
            "send", "notification", "--recipient", "a", "--identifier", "b", "--title", "T", "--in", "30", "--repeats",
        ])
        #expect(interval?.message.contains("trigger.timeInterval") == true)
        // It may be a password.
        #expect(refusal(["tail", "a", "-X", "=secret"])?.message.contains("secret") == false)
    }

    @Test(arguments: [
        [], ["local"], ["broker"], ["send"], ["send", "notification"], ["send", "removal"], ["send", "event"], ["tail"],
    ])
    func `every command has help, with an example or its subcommands, and says its version`(_ command: [String]) throws
    {
        let help = try #require(helpText(of: command))
        let hasExample = help.contains("\n  carillon \(command.joined(separator: " "))")
        #expect(hasExample || help.contains("SUBCOMMANDS:"), "\(help)")
        // Lines that the width of a terminal breaks are no examples to copy.
        #expect(!help.split(separator: "\n").contains { $0.hasPrefix("  carillon ") && $0.count > 79 })
        let version = try #require(refusal(command + ["--version"]))
        #expect(version.status == 0)
        #expect(version.message.hasPrefix("carillon "))
    }
}
