import NotificationModel
import Testing

@testable import Kafka
@testable import carillon

@Suite("Dead letters")
struct DeadLetterTests {
    private static let id = "0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11"
    private static let topics = TopicNames()
    private static let at: Int64 = 1_795_000_000_000

    /// The dead letter of a record, as a service writes it.
    private func letter(
        _ topic: String = topics.requests,
        key: String? = "shop/ana/order-1",
        value: String?,
        headers: [(String, [UInt8]?)] = [],
        because reason: ReasonCode = .invalid,
        within bound: Int = 1 << 20
    ) -> KafkaConsumerRecord {
        let letter = DeadLetter(
            key: key.map { Array($0.utf8) },
            value: value.map { Array($0.utf8) },
            headers: headers.map { ($0.0, $0.1) },
            because: ModelError(reason, field: "a", "is wrong"),
            from: .init(topic: topic, partition: 9, offset: 99, timestamp: Self.at - 5, consumerGroup: "g"),
            within: RecordBound(bound)
        )
        return KafkaConsumerRecord(
            topic: Self.topics.deadLetters,
            partition: 3,
            offset: 17,
            timestamp: Self.at,
            key: letter.key,
            value: letter.value,
            headers: letter.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        )
    }

    private func message(_ record: KafkaConsumerRecord) throws -> OutgoingMessage {
        try #require(StoredDeadLetter(record)).message(to: Self.topics)
    }

    private func error(of record: KafkaConsumerRecord) -> ModelError? {
        #expect(throws: ModelError.self) { try message(record) }
    }

    // MARK: Again

    private static let event: [(String, [UInt8]?)] = [
        ("ce_specversion", Array("1.0".utf8)), ("ce_id", Array("1".utf8)), ("ce_source", Array("/s".utf8)),
        ("ce_type", Array("com.example.a".utf8)), ("carillon-applications", Array("shop".utf8)), ("own", nil),
        ("binary", [0, 0xFF]),
    ]
    private static let signal = [("ce_type", Array("carillon.signal.receipt.v1".utf8) as [UInt8]?)]
    private static let receipt =
        #"{"identifier":"i","requestId":"q","device":"d","receipt":"opened"}"#

    @Test func `a record goes to its topic as it was, without the headers of the dead letter`() throws {
        let cases: [(topic: String, key: String?, value: String?, headers: [(String, [UInt8]?)], partition: String)] = [
            (
                Self.topics.requests, "shop/a%2Fb/i", #"{"requestId":"\#(Self.id)","content":{"title":"T"}}"#,
                [("x", [1])], "a/b"
            ),
            (Self.topics.requests, "shop/ana/i", nil, [], "ana"),
            (Self.topics.businessEvents, "k", "{}", Self.event, "k"),
            (Self.topics.businessEvents, nil, "{}", Self.event, "/s"),
            (Self.topics.responses, "shop/ana/i", "{}", Self.event, "ana"),
            (Self.topics.signals, "a%2Fb", Self.receipt, Self.signal, "a/b"),
            (Self.topics.devices, "shop/ana/d", #"{"platform":"fcm","token":"t"}"#, [], "ana"),
            (Self.topics.devices, "shop/ana/d", nil, [], "ana"),
        ]
        for wanted in cases {
            let record = letter(wanted.topic, key: wanted.key, value: wanted.value, headers: wanted.headers)
            // What 'tail --json' writes of it says the same.
            let read = try StoredDeadLetter(json: PrintableText.escaped(json: RecordJSON.line(record)))
            for message in [try message(record), try read.message(to: Self.topics)] {
                #expect(
                    message.topic == wanted.topic
                        && message.label == .deadLetter(.init(partition: 3, offset: 17), topic: wanted.topic)
                )
                #expect(
                    message.key == wanted.key.map { Array($0.utf8) }
                        && message.value == wanted.value.map { Array($0.utf8) }
                )
                #expect(message.headers.headers.map(\.name) == wanted.headers.map(\.0), "\(wanted)")
                #expect(message.headers.headers.map(\.value) == wanted.headers.map(\.1), "\(wanted)")
                #expect(message.timestamp == Self.at - 5)
                #expect(message.partitionKey == Array(wanted.partition.utf8), "\(wanted)")
            }
            #expect(read.place == RecordPlace(partition: 3, offset: 17) && read.timestamp == Self.at)
        }
    }

    @Test func `a signal that was sent on once may be sent on again`() throws {
        let forwarded = Self.signal + [("carillon-forwarded", Array("3".utf8) as [UInt8]?)]
        let record = letter(
            Self.topics.signals,
            key: "ana",
            value: Self.receipt,
            headers: forwarded,
            because: .misrouted
        )
        #expect(try message(record).headers.headers.map(\.name) == ["ce_type"])
    }

    @Test func `what is still invalid is refused with its error, before it is sent`() {
        let wrong: [(KafkaConsumerRecord, ReasonCode, String?)] = [
            (letter(value: #"{"content":{"titel":"T"}}"#), .unknownField, "content.titel"),
            (letter(value: "{"), .invalid, nil),
            (letter(key: nil, value: "{}"), .invalid, "key"), (letter(key: "shop/ana", value: "{}"), .invalid, "key"),
            (letter(Self.topics.businessEvents, value: "{}"), .invalid, "specversion"),
            (letter(Self.topics.signals, key: "ana", value: "{}", headers: Self.signal), .invalid, "identifier"),
            (letter(Self.topics.signals, key: "ana", value: Self.receipt), .unsupportedForm, "ce_type"),
            (letter(Self.topics.devices, value: "{}"), .invalid, "platform"),
            (letter(Self.topics.devices, key: "shop/ana/", value: nil), .invalid, "key"),
            (letter("other.requests", value: "{}"), .invalid, "kafka_dlt-original-topic"),
            (letter(Self.topics.state, value: "{}"), .invalid, "kafka_dlt-original-topic"),
        ]
        for (record, reason, field) in wrong {
            let error = error(of: record)
            #expect(error?.reason == reason, "\(String(describing: error))")
            if let field { #expect(error?.field == field, "\(String(describing: error))") }
        }
        var invented = Self.event
        invented[3].1 = Array("carillon.notification.response.v1".utf8)
        #expect(error(of: letter(Self.topics.businessEvents, value: "{}", headers: invented))?.field == "type")
    }

    @Test func `a dead letter that lacks a part is not sent, and says where the whole record is`() {
        let content = String(repeating: "x", count: 100_000)
        let record = letter(value: #"{"content":{"title":"\#(content)"}}"#, within: RecordBound.least)
        let error = error(of: record)
        #expect(error?.field == DeadLetter.omittedHeader)
        #expect(error?.detail.contains("\(Self.topics.requests) 9/99") == true, "\(String(describing: error))")
    }

    @Test func `lines of other topics are no dead letters`() {
        for line in [
            RecordJSON.line(record(type: "carillon.notification.delivered.v1")), Array("{}".utf8), Array("x".utf8),
            Array(#"{"specversion":"1.0","id":"1","source":"/s","type":"t"}"#.utf8),
        ] {
            #expect(throws: ModelError.self) { try StoredDeadLetter(json: line) }
        }
    }

    // MARK: Filters and output

    @Test func `filters are by reason, topic, time and position, and combine`() throws {
        let letter = try #require(StoredDeadLetter(letter(value: "{}", because: .noRule)))
        #expect(DeadLetterFilter().takes(letter))
        #expect(DeadLetterFilter(reasons: ["no-rule", "x"], topics: [Self.topics.requests]).takes(letter))
        #expect(!DeadLetterFilter(reasons: ["invalid"]).takes(letter))
        #expect(!DeadLetterFilter(reasons: ["no-rule"], topics: [Self.topics.signals]).takes(letter))
        let time = Timestamp(rawValue: Self.at)
        #expect(DeadLetterFilter(since: time).takes(letter) && !DeadLetterFilter(until: time).takes(letter))
        #expect(!DeadLetterFilter(since: time.adding(milliseconds: 1)).takes(letter))
        #expect(DeadLetterFilter(until: time.adding(milliseconds: 1)).takes(letter))
        #expect(DeadLetterFilter(places: [letter.place]).takes(letter))
        #expect(!DeadLetterFilter(places: [.init(partition: 3, offset: 18)]).takes(letter))
    }

    @Test func `a line and a page show where it is, why, and what it was`() throws {
        let letter = try #require(StoredDeadLetter(letter(value: #"{"content":{"titel":"T\u001b[2J"}}"#)))
        let line = DeadLettersListCommand.line(letter)
        #expect(line.hasPrefix("3:17  \(Timestamp(rawValue: Self.at).rfc3339)  shop/ana/order-1  invalid at a from"))
        #expect(line.contains("carillon.requests 9/99: is wrong"))
        let text = DeadLettersShowCommand.text(letter, sendingTo: Self.topics)
        #expect(text.contains("reason:    invalid") && text.contains("from:      carillon.requests 9/99"), "\(text)")
        #expect(text.contains("it cannot be sent again") && text.contains("content.titel"), "\(text)")
        #expect(!line.contains("\u{1B}") && !text.contains("\u{1B}"))
        #expect(DeadLettersListCommand.summary([:]) == "no dead letters")
        #expect(DeadLettersListCommand.summary(["no-rule": 1]) == "1 dead letter: 1 no-rule")
        let counts = ["invalid": 2, "no-rule": 1_000, "gap": 2]
        #expect(DeadLettersListCommand.summary(counts) == "1,004 dead letters: 1,000 no-rule, 2 gap, 2 invalid")
    }

    @Test func `a dry run tells each record, and sends none`() throws {
        var source = NumberedMessages(count: 3) { number throws(ModelError) in
            guard number != 2 else { throw ModelError(.invalid, "is wrong") }
            return OutgoingMessage(
                label: .deadLetter(.init(partition: 0, offset: Int64(number)), topic: "t"),
                partitionKey: [],
                headers: KafkaHeaderBuffer()
            )
        }
        var run = DryRun()
        var (told, troubles): ([String], [String]) = ([], [])
        try run.run(&source, until: { false }, { told.append("\($0.label)") }, trouble: { troubles.append($0) })
        #expect(told == ["dead letter 0:1", "dead letter 0:3"] && troubles.count == 1)
        #expect(run.text == "would send 2, would not send 1")
        #expect(run.summary.status(signal: nil) == ExitStatus.badData)
    }

    // MARK: Usage

    @Test(arguments: [
        (["send"], "say which"), (["send", "--all", "--reason", "no-rule"], "exclude each other"),
        (["send", "3:17", "--all"], "exclude each other"), (["send", "--file", "-", "--since", "1d"], "exclude"),
        (["send", "3"], "3"), (["send", "--all", "--rate", "0"], "--rate"),
        (["list", "--reason", "no-rul"], "no-rule"),
        (["show"], "partition:offset"),
    ])
    func `what is to be sent must be said, in one way`(_ arguments: [String], _ text: String) {
        let found = refusal(["dead-letters"] + arguments)
        #expect(
            found?.status == ExitStatus.usage && found?.message.contains(text) == true,
            "\(String(describing: found))"
        )
    }

    @Test func `valid command lines are understood`() throws {
        for arguments in [
            ["send", "--all", "--dry-run"], ["send", "3:17", "4:0", "--keep-going"], ["send", "--file", "-", "--json"],
            [
                "send", "--reason", "no-rule", "--reason", "invalid", "--topic", "requests", "--since", "2d", "--until",
                "1h",
            ],
            ["list"], ["list", "--json", "--topic", "business-events"], ["show", "0:0"],
        ] {
            #expect(refusal(["dead-letters"] + arguments) == nil, "\(arguments)")
        }
    }
}
