import Foundation
import Kafka
import LocalBroker
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import carillon

@Suite("carillon query")
struct QueryTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)

    private static func json(_ change: (inout StateEntry) throws -> Void) rethrows -> String {
        var entry = StateEntry()
        entry.touched = now
        try change(&entry)
        var json: [UInt8] = []
        entry.write(to: &json)
        return String(decoding: json, as: UTF8.self)
    }

    private static func pending(
        in milliseconds: Int64 = 60_000,
        category: String = "ORDER",
        channel: ChannelName? = nil
    ) throws -> String {
        try json { entry in
            entry.pending = try .init(
                requestID: RequestID(text: "0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11"),
                content: Array(#"{"title":"T","categoryIdentifier":"\#(category)"}"#.utf8)[...],
                expiration: nil,
                trace: .none,
                timer: .held,
                due: now.adding(milliseconds: milliseconds),
                channel: channel
            )
        }
    }

    private static func delivered() throws -> String {
        try json { $0.delivered = try .init(requestID: RequestID(text: "r"), at: now) }
    }

    private static func result(
        _ records: [(key: String, value: String?)],
        _ filter: QueryFilter = QueryFilter(),
        limit: Int = 10,
        maximumRows: Int = 100
    ) -> QueryResult {
        var result = QueryResult(filter, limit: limit, zones: nil, maximumRows: maximumRows)
        for (key, value) in records { result.take(record(topic: "carillon.state", key: key, value: value)) }
        return result
    }

    // MARK: Counting

    @Test func `of each key the newest record counts`() throws {
        let result = Self.result([
            ("shop/ana/a", try Self.pending()), ("shop/ana/b", try Self.pending()), ("shop/bob/a", try Self.pending()),
            ("shop/ana/a", try Self.delivered()), ("shop/ana/b", nil),
        ])
        #expect(result.total == .init(pending: 1, sending: 0, delivered: 1))
        #expect(result.shown.map(\.key.recipient).sorted() == ["ana", "bob"])
    }

    @Test func `one that repeats is pending and delivered`() throws {
        let both = try Self.json { entry in
            entry.delivered = try .init(requestID: RequestID(text: "r"), at: Self.now)
            entry.pending = try .init(
                requestID: RequestID(text: "r"),
                content: Array("{}".utf8)[...],
                expiration: nil,
                trace: .none,
                timer: .held,
                due: Self.now
            )
        }
        #expect(Self.result([("shop/ana/a", both)]).total == .init(pending: 1, sending: 0, delivered: 1))
        let only = Self.result([("shop/ana/a", both)], QueryFilter(state: .delivered))
        #expect(only.total == .init(pending: 0, sending: 0, delivered: 1))
    }

    @Test func `other records of the topic are passed over, and what cannot be read is counted`() throws {
        let result = Self.result([
            ("marker", "{}"), ("shop/ana/", "{}"), ("not a key", "{}"), ("shop/ana/a", "nonsense"),
            ("shop/ana/b", #"{"form":9999}"#), ("shop/ana/c", Self.json { _ in }),
        ])
        #expect(result.total.all == 0 && result.unreadable == 2)
    }

    // MARK: Filters

    @Test func `filters select by application, recipient, category, channel and due time`() throws {
        let records: [(key: String, value: String?)] = [
            ("shop/ana/a", try Self.pending(in: 1_000)), ("bank/ana/a", try Self.pending(in: 1_000)),
            ("shop/bob/a", try Self.pending(in: 90_000, category: "NEWS")),
            ("shop/bob/b", try Self.pending(in: 1_000, channel: .webhook)), ("shop/bob/c", try Self.delivered()),
        ]
        func keys(_ filter: QueryFilter) -> [String] {
            Self.result(records, filter).shown.map { String(decoding: $0.key.encoded, as: UTF8.self) }.sorted()
        }
        #expect(keys(QueryFilter(application: "bank")) == ["bank/ana/a"])
        #expect(keys(QueryFilter(recipient: "bob")) == ["shop/bob/a", "shop/bob/b", "shop/bob/c"])
        #expect(keys(QueryFilter(category: "NEWS")) == ["shop/bob/a"])
        #expect(keys(QueryFilter(channel: "webhook")) == ["shop/bob/b"])
        #expect(keys(QueryFilter(state: .delivered)) == ["shop/bob/c"])
        #expect(keys(QueryFilter(state: .pending, application: "shop")) == ["shop/ana/a", "shop/bob/a", "shop/bob/b"])
        let until = Self.now.adding(milliseconds: 60_000)
        #expect(keys(QueryFilter(dueUntil: until)) == ["bank/ana/a", "shop/ana/a", "shop/bob/b"])
    }

    @Test func `what no longer matches is not counted any more`() throws {
        let result = Self.result(
            [("shop/ana/a", try Self.pending()), ("shop/ana/a", try Self.pending(category: "NEWS"))],
            QueryFilter(category: "ORDER")
        )
        #expect(result.total.all == 0 && result.shown.isEmpty)
    }

    // MARK: Reports

    @Test func `those that are due next are shown first, and a list of a part says so`() throws {
        let records: [(key: String, value: String?)] = try (0..<5).map {
            ("shop/ana/\($0)", try Self.pending(in: Int64(1000 * (5 - $0))))
        }
        let result = Self.result(records, limit: 2)
        #expect(result.shown.map(\.key.identifier) == ["4", "3"] && !result.isChosenFromPart)
        #expect(Self.result(records, limit: 2, maximumRows: 3).isChosenFromPart)
        let none = Self.result(records, limit: 0)
        #expect(none.shown.isEmpty && none.total.pending == 5 && !none.isChosenFromPart)
    }

    @Test func `people get lines and a table of numbers, programs objects`() throws {
        let result = Self.result([
            ("shop/ana/a", try Self.pending(channel: .webhook)), ("shop/ana/b", try Self.pending(channel: .webhook)),
            ("shop/ana/c", try Self.delivered()),
        ])
        let lines = QueryReport.text(result).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 7)
        #expect(lines[0].prefix(3) == ["delivered", Self.now.rfc3339, "shop/ana/c"])
        #expect(lines[4] == ["shop", "ORDER", "webhook", "2", "0", "0"])
        #expect(lines[5] == ["shop", "-", "-", "0", "0", "1"] && lines[6] == ["all", "2", "0", "1"])
        let objects = try QueryReport.json(result).split(separator: 0x0A).map { try JSONValue.parse(Array($0)) }
        #expect(objects.count == 4 && objects[1]["channel"]?.stringValue == "webhook")
        #expect(objects[1]["state"]?.stringValue == "pending" && objects[0]["category"] == .null)
        #expect(objects[3]["pending"]?.integerValue == 2 && objects[3]["groups"]?.arrayValue?.count == 2)
    }

    @Test func `text of others cannot control the terminal`() throws {
        let hostile = #"O\u001B[2J"#
        let result = Self.result([("shop/ana/a", try Self.pending(category: hostile))])
        #expect(result.total.pending == 1)
        let text = QueryReport.text(result)
        #expect(!text.contains("\u{1B}"))
    }

    @Test func `many groups are counted, and shown as those with most`() throws {
        let records: [(key: String, value: String?)] = try (0..<30).map {
            ("shop/ana/\($0)", try Self.pending(category: "C\($0)"))
        }
        let result = Self.result(records)
        #expect(result.groups.count == 30 && QueryReport.text(result).contains("and 10 others"))
    }

    // MARK: The topic and the command

    @Test func `it reads all partitions, or that of the recipient`() async throws {
        let broker = try LocalBroker.withCarillonTopics(TopicNames(), partitions: 4)
        let connection = Connection(
            bootstrapServers: broker.bootstrapServers,
            properties: [:],
            topics: TopicNames(),
            defaultApplication: "default",
            timeout: .seconds(30)
        )
        let value = try Self.pending()
        let totals = try await KafkaThread.run(name: "query") {
            for recipient in ["ana", "bob", "cleo", "dan", "eve"] {
                var messages = NumberedMessages(count: 1) { _ throws(ModelError) in
                    OutgoingMessage(
                        label: .event(id: "1", source: "/test"),
                        partitionKey: Array(recipient.utf8),
                        key: Array("shop/\(recipient)/a".utf8),
                        value: Array(value.utf8),
                        headers: KafkaHeaderBuffer()
                    )
                }
                let output = Sender.Output(acknowledged: { _, _, _ in }, trouble: { _ in }, progress: { _ in })
                let configuration = Sender.Configuration(connection: connection, topic: connection.topics.state)
                var sender = try Sender(configuration, stop: StopSignal(), output: output)
                #expect(sender?.run(&messages).acknowledged == 1)
            }
            return try [QueryFilter(), QueryFilter(recipient: "ana")].map { filter in
                try QueryCommand.read(connection, filter, limit: 0, until: StopSignal()).total.pending
            }
        }
        #expect(totals == [5, 1])
        await broker.shutDown()
    }

    @Test func `arguments that cannot be right are refused`() {
        for arguments in [
            ["--channel", "pigeon"], ["--state", "sent"], ["--list", "-1"], ["--list", "100001"],
            ["--state", "delivered", "--due-within", "1h"],
        ] {
            #expect(refusal(["query", "--bootstrap-servers", "a:1"] + arguments)?.status == 64, "\(arguments)")
        }
    }
}
