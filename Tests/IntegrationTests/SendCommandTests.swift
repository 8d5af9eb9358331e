import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `carillon send`, with kcat at the other end.
@Suite("carillon send", .serialized)
struct SendCommandTests {
    // MARK: Records

    @Test("a notification, its removal and an event are at the reported positions, with key, headers and value")
    func arrives() async throws {
        try await CarillonCommand.withCluster { carillon in
            let notification = try await carillon.run(
                "send",
                "notification",
                "--recipient",
                "ana/1",
                "--identifier",
                "order-1",
                "--title",
                "On its way",
                "--body",
                "Today",
                "--badge",
                "3",
                "--sound",
                "default",
                "--category",
                "ORDER",
                "--in",
                "90",
                "--expiration",
                "2h",
                "--json"
            )
            #expect(notification.status == 0, "\(notification.errors)")
            #expect(notification.errors.hasPrefix("sent 1, acknowledged 1, failed 0 in"))
            let removal = try await carillon.run(
                "send",
                "removal",
                "--recipient",
                "ana/1",
                "--identifier",
                "order-1",
                "--application",
                "news",
                "--state",
                "pending"
            )
            #expect(removal.status == 0, "\(removal.errors)")
            #expect(removal.lines.last?.hasPrefix("sent 1, acknowledged 1, failed 0 in") == true)

            let requests = try await carillon.records("requests")
            #expect(requests.count == 2)
            let request = try #require(requests.first { $0.key == "shop/ana%2F1/order-1" })
            #expect(notification.members("requestId") == [request["requestId"]])
            #expect(notification.members("topic") == [carillon.cluster.topic("requests")])
            #expect(notification.members("partition") == ["\(request.partition)"])
            #expect(notification.members("offset") == ["\(request.offset)"])
            #expect(request["content.title"] == "On its way")
            #expect(request["content.badge"] == "3")
            #expect(request["trigger.timeInterval"] == "90")
            #expect(request["recipient"] == "ana/1")
            #expect(request.headers["ce_type"] == "carillon.notification.request.v1")
            #expect(request.headers["ce_id"] == request["requestId"])
            let cancel = try #require(requests.first { $0.key == "news/ana%2F1/order-1" })
            #expect(cancel["remove"] == "pending")
            #expect(cancel.partition == request.partition)
            let id = try #require(cancel["requestId"])
            let place = "\(carillon.cluster.topic("requests")) \(cancel.partition)/\(cancel.offset)"
            #expect(removal.lines.first == "request \(id) is at \(place)")

            let event = try await carillon.run(
                "send",
                "event",
                "--type",
                "com.example.a",
                "--source",
                "/shop",
                "--subject",
                "ana",
                "--id",
                "e-1",
                "--data",
                #"{"price":1.50}"#,
                "--extension",
                "tenant=t1",
                "--json"
            )
            #expect(event.status == 0, "\(event.errors)")
            #expect(event.members("id") == ["e-1"])
            #expect(event.members("source") == ["/shop"])
            let sent = try #require(try await carillon.records("business-events").first)
            #expect(sent.key == "ana")
            #expect(sent.payload == #"{"price":1.50}"#)
            #expect(sent.headers["ce_type"] == "com.example.a")
            #expect(sent.headers["ce_tenant"] == "t1")
            #expect(sent.headers["content-type"] == "application/json")
        }
    }

    @Test("many: each copy with its number, all acknowledged, the objects alone on standard output")
    func many() async throws {
        try await CarillonCommand.withCluster { carillon in
            let end = try await carillon.run(
                "send",
                "notification",
                "--recipient",
                "user-{n}",
                "--identifier",
                "hello",
                "--title",
                "Hello {n}",
                "--count",
                "500",
                "--json"
            )
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.lines.count == 500)
            #expect(end.errors.contains("sent 500, acknowledged 500, failed 0 in"))
            let requests = try await carillon.records("requests")
            #expect(Set(requests.map(\.key)) == Set((1...500).map { "shop/user-\($0)/hello" }))
            #expect(Set(requests.map { $0["requestId"] }) == Set(end.members("requestId")))
            #expect(
                requests.allSatisfy {
                    $0["content.title"] == $0["recipient"]?.replacingOccurrences(of: "user-", with: "Hello ")
                }
            )
        }
    }

    @Test("lines of one key arrive in their order, from a file and from standard input")
    func order() async throws {
        try await CarillonCommand.withCluster { carillon in
            let lines = (1...1_000).map { #"{"identifier":"score","version":\#($0),"content":{"title":"\#($0)"}}"# }
            let folder = try TemporaryFolder()
            let file = try folder.write(lines.joined(separator: "\n"), to: "requests.jsonl")
            let fromFile = try await carillon.run("send", "notification", "--file", file, "--recipient", "ana")
            #expect(fromFile.status == 0, "\(fromFile.errors)")
            let document = """
                [
                  {"recipient": "ana", "identifier": "score", "version": 1001, "content": {"title": "last"}},
                  {"recipient": "ana", "identifier": "score", "remove": "all"}
                ]
                """
            let fromInput = try await carillon.run("send", "notification", "--file", "-", input: document)
            #expect(fromInput.status == 0, "\(fromInput.errors)")
            let requests = try await carillon.records("requests")
            #expect(requests.map { $0["version"] } == (1...1_001).map { "\($0)" } + [nil])
            #expect(requests.last?["remove"] == "all")
        }
    }

    @Test(
        "the rules convert a sent event to a notification, and a removal cancels it",
        .disabled(if: Cluster.isReal)
    )
    func throughTheServices() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("bootstrap")
        let local = try ChildProcess(
            try Tools.product("carillon"),
            [
                "local", "--http", "127.0.0.1:0", "--ops", "127.0.0.1:0", "--bootstrap-file", file, "--rules",
                Tools.client("rules.yaml"),
            ]
        )
        do {
            try await eventually("carillon local is ready", orSay: { local.lastWords }) {
                guard local.isRunning else { throw ChildProcess.Failure(description: local.lastWords) }
                return FileManager.default.fileExists(atPath: file)
            }
            func carillon(_ arguments: String...) async throws -> ChildProcess {
                try await ChildProcess.run(try Tools.product("carillon"), arguments + ["--bootstrap-file", file])
            }
            _ = try await carillon(
                "send",
                "event",
                "--type",
                "com.example.test.now",
                "--data",
                #"{"recipient":"ana","identifier":"now","title":"Now"}"#
            )
            let delivered = try await carillon(
                "tail",
                "deliveries",
                "--recipient",
                "ana",
                "--identifier",
                "now",
                "--type",
                "delivered",
                "--from",
                "beginning",
                "--count",
                "1",
                "--json"
            )
            #expect(JSONText.member("value.content.title", of: delivered.standardOutput) == "Now")
            _ = try await carillon(
                "send",
                "notification",
                "--recipient",
                "ana",
                "--identifier",
                "later",
                "--title",
                "Later",
                "--in",
                "1h"
            )
            _ = try await carillon(
                "send",
                "removal",
                "--recipient",
                "ana",
                "--identifier",
                "later",
                "--state",
                "pending"
            )
            let cancelled = try await carillon(
                "tail",
                "deliveries",
                "--identifier",
                "later",
                "--type",
                "cancelled",
                "--since",
                "1h",
                "--count",
                "1"
            )
            #expect(cancelled.outputText.contains("default/ana/later  cancelled"), "\(cancelled.outputText)")
        } catch {
            await local.end()
            throw error
        }
        await local.end()
    }

    // MARK: Errors

    private static let mixed = """
        {"recipient":"ana","identifier":"a","content":{"title":"A"}}
        {"recipient":"ana","identifier":"b","content":{"title":"B","colour":"red"}}

        {"recipient":"ana","identifier":"c","content":{"title":"C"}}
        {"recipient":"ana","identifier":"d","content":
        {"recipient":"ana","identifier":"e","content":{"title":"E"}}
        """

    @Test(
        "an invalid line ends sending with its number and its field; neither it nor any later line is sent"
    )
    func badLine() async throws {
        try await CarillonCommand.withCluster { carillon in
            let end = try await carillon.run("send", "notification", "--file", "-", input: Self.mixed)
            #expect(end.status == 65)
            #expect(
                end.errors
                    == "carillon send: standard input:2: unknown-field at content.colour: is not a field of this object\n"
            )
            #expect(end.output.hasPrefix("sent 1, acknowledged 1, failed 0, not sent 1 in"))
            #expect(end.output.hasSuffix("; the rest of the input was not read\n"))
            #expect(try await carillon.records("requests").map { $0["identifier"] } == ["a"])
        }
    }

    @Test("with --keep-going it continues, names each invalid line, and reports their number at the end")
    func keepsGoing() async throws {
        try await CarillonCommand.withCluster { carillon in
            let end = try await carillon.run("send", "notification", "--file", "-", "--keep-going", input: Self.mixed)
            #expect(end.status == 65)
            #expect(end.errors.contains("standard input:2: unknown-field at content.colour"))
            #expect(end.errors.contains("standard input:5: invalid: not JSON"))
            #expect(end.output.hasPrefix("sent 3, acknowledged 3, failed 0, not sent 2 in"))
            #expect(try await carillon.records("requests").map { $0["identifier"] } == ["a", "c", "e"])
        }
    }

    @Test("events that are wrong are named with their attribute, bytes that are no text with their line")
    func badEvents() async throws {
        try await CarillonCommand.withCluster { carillon in
            let events = """
                [{"specversion":"1.0","id":"1","source":"/s","type":"a"},
                 {"specversion":"1.0","id":"2","source":"/s"}]
                """
            let end = try await carillon.run("send", "event", "--file", "-", input: events)
            #expect(end.status == 65)
            #expect(end.errors == "carillon send: standard input:1, element 2: invalid at type: is missing\n")
            let child = try carillon.start(
                ["send", "event", "--file", "-"],
                input: Data([0x7B, 0xFF, 0x00, 0x7D, 0x0A])
            )
            #expect(try await child.ended() == 65)
            #expect(child.errorText.contains("standard input:1: "))
            #expect(try await carillon.records("business-events").map { $0.headers["ce_id"] } == ["1"])
        }
    }

    @Test("a record that the broker rejects is reported as a failure with its id")
    func refusedByBroker() async throws {
        try await CarillonCommand.withCluster { carillon in
            let large =
                #"{"recipient":"a","identifier":"i","requestId":"big","content":{"body":"\#(String(repeating: "x", count: 5_000))"}}"#
            // The client's own limit is used instead of the broker's.
            let end = try await carillon.run(
                "send",
                "notification",
                "--file",
                "-",
                "-X",
                "message.max.bytes=1000",
                input: large
            )
            #expect(end.status == 1, "\(end.errors)")
            #expect(end.errors.contains("request big: "))
            #expect(end.output.hasPrefix("sent 1, acknowledged 0, failed 1 in"))
        }
    }

    @Test("wrong usage is 64, no file 66, no broker 69, each with a word of why")
    func statuses() async throws {
        try await CarillonCommand.withCluster { carillon in
            let usage = try await carillon.run("send", "notification", "--recipient", "ana", "--title", "T")
            #expect(usage.status == 64)
            #expect(usage.errors.contains("--identifier"))
            let property = try await carillon.run("send", "event", "--type", "a", "-X", "no.such.property=1")
            #expect(property.status == 64)
            #expect(property.errors.contains("no.such.property"))
            let file = try await carillon.run("send", "event", "--file", "/no/such/file")
            #expect(file.status == 66)
            #expect(file.errors == "carillon send: /no/such/file: No such file or directory\n")
            let away = try await carillon.run(
                "send",
                "event",
                "--type",
                "a",
                "--bootstrap-servers",
                "127.0.0.1:1",
                "--timeout",
                "200ms"
            )
            #expect(away.status == 69)
            #expect(away.errors.hasPrefix("carillon send: no answer from 127.0.0.1:1"))
            #expect(away.errors.split(separator: "\n").count == 1)
        }
    }

    // MARK: The end

    @Test(
        "Ctrl-C ends sending with 130, and what it says was acknowledged is there",
        arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))]
    )
    func interrupted(_ signal: Int32, _ status: Int32) async throws {
        try await CarillonCommand.withCluster { carillon in
            let child = try carillon.start([
                "send", "notification", "--recipient", "user-{n}", "--identifier", "i", "--title", "T", "--count",
                "1000000",
                "--rate", "500", "--json",
            ])
            try await eventually("some are sent", orSay: { child.lastWords }) { child.outputLines.count > 10 }
            child.signal(signal)
            #expect(try await child.ended() == status, "\(child.lastWords)")
            let said = Set(
                child.outputLines.map { line in
                    let place = ["partition", "offset"].map { JSONText.member($0, of: Data(line.utf8)) ?? "?" }
                    return place.joined(separator: "/")
                }
            )
            let read = Set(try await carillon.records("requests").map { "\($0.partition)/\($0.offset)" })
            #expect(said == read, "not there: \(said.subtracting(read)), not said: \(read.subtracting(said))")
            let sent = said.count
            #expect(sent > 10 && sent < 1_000_000)
            #expect(child.outputLines.count == sent)
            // The rest of the requested number is not sent.
            let (done, left) = (Self.grouped(sent), Self.grouped(1_000_000 - sent))
            #expect(
                child.errorText.hasPrefix("sent \(done), acknowledged \(done), failed 0, not sent \(left) in"),
                "\(child.errorText)"
            )
        }
    }

    /// `1234567` as `1,234,567`.
    private static func grouped(_ number: Int) -> String {
        let digits = Array("\(number)")
        return digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }.joined()
    }

    @Test("the first signal ends the reading of an input that never has a line", arguments: [SIGTERM, SIGINT])
    func endlessInput(_ signal: Int32) async throws {
        try await CarillonCommand.withCluster { carillon in
            let child = try carillon.start(["send", "notification", "--file", "/dev/zero", "--keep-going"])
            try await eventually("it reads", orSay: { child.lastWords }) {
                child.errorText.contains("/dev/zero:1: too-large")
            }
            child.signal(signal)
            #expect(try await child.ended() == 128 + signal, "\(child.lastWords)")
            #expect(
                child.outputText.hasPrefix("sent 0, acknowledged 0, failed 0, not sent 1 in"),
                "\(child.outputText)"
            )
        }
    }

    @Test("an endless line is wrong data when it is longer than a value may be")
    func endlessLine() async throws {
        try await CarillonCommand.withCluster { carillon in
            let end = try await carillon.run("send", "event", "--file", "/dev/zero")
            #expect(end.status == 65)
            #expect(end.errors.contains("/dev/zero:1: too-large"))
        }
    }

    @Test(
        "the JSON output of tail is sent again unchanged: requests, removals and events",
        .disabled(if: Cluster.isReal)
    )
    func tailOutput() async throws {
        try await CarillonCommand.withCluster { old in
            func run(_ arguments: [String]) async throws {
                let child = try old.start(arguments)
                #expect(try await child.ended() == 0, "\(child.lastWords)")
            }
            try await run([
                "send", "notification", "--recipient", "ana/1", "--identifier", "a", "--title", "\u{200F}T", "--in",
                "1h",
            ])
            try await run(["send", "removal", "--recipient", "ana/1", "--identifier", "a", "--state", "pending"])
            try await run(["send", "event", "--type", "com.example.a", "--subject", "s", "--data", #"{ "n" : 1.50 }"#])
            try await CarillonCommand.withCluster { new in
                for (topic, kind) in [("requests", "notification"), ("business-events", "event")] {
                    let end = try await old.shell(
                        """
                        set -o pipefail
                        "$carillon" tail \(topic) --no-follow --json | "$carillon" send \(kind) --file - \
                          --bootstrap-servers \(new.cluster.bootstrapServers) --topics-prefix \(new.cluster.prefix)
                        """
                    )
                    #expect(end.status == 0, "\(end.errors)")
                    let (was, isNow) = (try await old.records(topic), try await new.records(topic))
                    #expect(!was.isEmpty && isNow.count == was.count)
                    for (was, isNow) in zip(
                        was.sorted { $0.payload ?? "" < $1.payload ?? "" },
                        isNow.sorted { $0.payload ?? "" < $1.payload ?? "" }
                    ) {
                        #expect(isNow.key == was.key && isNow.payload == was.payload && isNow.headers == was.headers)
                        #expect(isNow.partition == was.partition)
                    }
                }
            }
        }
    }

    @Test("standard input that stays open is sent line by line, and its end ends the command")
    func openInput() async throws {
        try await CarillonCommand.withCluster { carillon in
            let child = try carillon.start(["send", "notification", "--file", "-", "--json"], keepsInput: true)
            for number in 1...3 {
                try child.write(#"{"recipient":"ana","identifier":"\#(number)","content":{"title":"T"}}"#)
                try await eventually("line \(number) is acknowledged", orSay: { child.lastWords }) {
                    child.outputLines.count == number
                }
            }
            child.closeInput()
            #expect(try await child.ended() == 0, "\(child.lastWords)")
            #expect(try await carillon.records("requests").map { $0["identifier"] }.count == 3)
        }
    }

    @Test("a reader that goes away does not end sending")
    func reader() async throws {
        try await CarillonCommand.withCluster { carillon in
            let end = try await carillon.shell(
                """
                set -o pipefail
                "$carillon" send notification --recipient 'u-{n}' --identifier i --title T --count 2000 --json | head -n 1
                """
            )
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.lines.count == 1)
            #expect(end.errors.contains("sent 2,000, acknowledged 2,000, failed 0 in"))
            #expect(try await carillon.records("requests").count == 2_000)
        }
    }
}
