import Kafka
import NotificationModel
import Testing

@testable import carillon

@Suite("Signals from the command line")
struct SignalCommandTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)

    /// The value of the record that a command sends.
    private func sent(_ arguments: [String], number: Int = 1) throws -> (type: String?, key: String, value: String) {
        let command = try #require(try Carillon.understood(["send"] + arguments) as? any SignalCommand)
        let message = try command.message(number, at: Self.now)
        let type = message.headers.headers.first { $0.name == "ce_type" }?.value
        return (
            type.map { String(decoding: $0, as: UTF8.self) }, String(decoding: message.key ?? [], as: UTF8.self),
            String(decoding: message.value ?? [], as: UTF8.self)
        )
    }

    @Test(arguments: [
        (
            ["response", "--identifier", "i", "--request-id", "q", "--response-id", "r"], "response",
            #"{"identifier":"i","requestId":"q","responseId":"r","actionIdentifier":"default"}"#
        ),
        (
            [
                "response", "--identifier", "i", "--request-id", "q", "--response-id", "r", "--application", "shop",
                "--device", "d", "--action", "reply", "--text", "a\nb",
            ], "response",
            #"{"application":"shop","identifier":"i","requestId":"q","responseId":"r","device":"d","actionIdentifier":"reply","#
                + #""userText":"a\nb"}"#
        ),
        (
            ["receipt", "--identifier", "i", "--request-id", "q", "--device", "d", "--receipt", "opened"], "receipt",
            #"{"identifier":"i","requestId":"q","device":"d","receipt":"opened"}"#
        ),
        (
            [
                "report", "--identifier", "i", "--request-id", "q", "--device", "d", "--outcome", "rejected",
                "--reason",
                "BadTopic",
            ], "report",
            #"{"identifier":"i","requestId":"q","device":"d","outcome":"rejected","reason":"BadTopic"}"#
        ),
        (
            ["app-state", "--device", "d", "--state", "background", "--badge", "0"], "app-state",
            #"{"device":"d","state":"background","badge":0,"at":"\#(now.rfc3339)"}"#
        ),
        (
            ["location", "--device", "d", "--latitude", "1", "--longitude", "2"], "location",
            #"{"device":"d","latitude":1,"longitude":2,"accuracy":0,"at":"\#(now.rfc3339)"}"#
        ),
    ])
    func `a signal has the recipient's key, its type and its members`(
        _ arguments: [String],
        _ type: String,
        _ value: String
    ) throws {
        let record = try sent(arguments + ["--recipient", "ana/1"])
        #expect(record.type == "carillon.signal.\(type).v1" && record.key == "ana%2F1")
        #expect(record.value == value)
    }

    @Test func `with a count, the number of the copy is in every text; response ids are random`() throws {
        let arguments = [
            "response", "--recipient", "u-{n}", "--identifier", "i-{n}", "--request-id", "q-{n}", "--text", "{n}",
            "--count",
            "3",
        ]
        let record = try sent(arguments, number: 2)
        #expect(record.key == "u-2" && record.value.contains(#""identifier":"i-2","requestId":"q-2""#))
        #expect(record.value.contains(#""userText":"2""#))
        #expect(try sent(arguments, number: 2).value != record.value)
    }

    @Test(arguments: [
        (["--text", String(repeating: "x", count: 10_240)], "--text: "), (["--action", ""], "--action: "),
        (["--request-id", ""], "--request-id: "), (["--device", "a\u{0}"], "--device: "),
    ])
    func `a value that the model refuses is reported with its option`(_ options: [String], _ start: String) {
        let base = ["send", "response", "--recipient", "a", "--identifier", "b"]
        let arguments = base + (options[0] == "--request-id" ? [] : ["--request-id", "q"]) + options
        #expect(refusal(arguments)?.message.hasPrefix(start) == true, "\(String(describing: refusal(arguments)))")
    }
}
