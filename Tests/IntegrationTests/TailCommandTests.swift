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

/// `carillon tail`, with kcat and confluent-kafka at the other end.
@Suite("carillon tail", .serialized)
struct TailCommandTests {
    /// Puts a record there by confluent-kafka, nil being a tombstone.
    private func put(
        _ carillon: CarillonCommand,
        _ topic: String,
        _ key: String,
        _ value: String?,
        _ headers: [String: String] = [:]
    ) async throws {
        let record = TestRecord(
            topic: carillon.cluster.topic(topic),
            key: key,
            value: value.map { Data($0.utf8) },
            headers: headers,
            recipient: "ana"
        )
        _ = try await PythonProducer.send([record.line], to: carillon.cluster)
    }

    @Test("without follow it shows the existing records and ends, also for an empty topic")
    func ends() async throws {
        try await CarillonCommand.withCluster { carillon in
            _ = try await carillon.run(
                "send",
                "notification",
                "--recipient",
                "u-{n}",
                "--identifier",
                "i",
                "--title",
                "T{n}",
                "--count",
                "100"
            )
            let all = try await carillon.run("tail", "requests", "--no-follow", "--json")
            #expect(all.status == 0, "\(all.errors)")
            let there = try await carillon.records("requests")
            #expect(Set(all.members("value.requestId")) == Set(there.map { $0["requestId"] }))
            #expect(all.lines.count == 100)
            let some = try await carillon.run("tail", "requests", "--no-follow", "--count", "7")
            #expect(some.status == 0)
            #expect(some.lines.count == 7)
            let none = try await carillon.run("tail", "responses", "--no-follow")
            #expect(none.status == 0)
            #expect(none.output.isEmpty && none.errors.isEmpty)
        }
    }

    @Test("filters: of a recipient, an identifier, one of several types")
    func filters() async throws {
        try await CarillonCommand.withCluster { carillon in
            let types = ["scheduled", "delivered", "cancelled"]
            for (index, type) in types.enumerated() {
                for recipient in ["ana%2F1", "ben"] {
                    try await put(
                        carillon,
                        "deliveries",
                        "shop/\(recipient)/order-\(index)",
                        #"{"closes":true}"#,
                        ["ce_type": "carillon.notification.\(type).v1"]
                    )
                }
            }
            func keys(_ arguments: String...) async throws -> [String?] {
                let child = try carillon.start(["tail", "deliveries", "--no-follow", "--json"] + arguments)
                #expect(try await child.ended() == 0, "\(child.lastWords)")
                return child.outputLines.map { JSONText.member("key", of: Data($0.utf8)) }
            }
            #expect(try await keys("--recipient", "ana/1").count == 3)
            #expect(try await keys("--recipient", "ana").isEmpty)
            #expect(try await keys("--identifier", "order-1") == ["shop/ana%2F1/order-1", "shop/ben/order-1"])
            #expect(try await keys("--type", "delivered", "--type", "carillon.notification.cancelled.v1").count == 4)
            #expect(try await keys("--type", "scheduled", "--recipient", "ben") == ["shop/ben/order-0"])
            #expect(try await keys("--type", "scheduled", "--count", "1").count == 1)
        }
    }

    @Test("values that are not JSON, not text, or null are one readable line each")
    func readable() async throws {
        try await CarillonCommand.withCluster { carillon in
            try await put(
                carillon,
                "dead-letters",
                "shop/ana/a",
                "{not JSON",
                [
                    "carillon-reason": "invalid",
                    "kafka_dlt-original-topic": "t",
                ]
            )
            try await put(carillon, "dead-letters", "shop/ana/b", nil, ["carillon-reason": "misrouted"])
            try await put(
                carillon,
                "dead-letters",
                "shop/ana/c\u{1B}[2J",
                "\u{1}\u{2}",
                ["carillon-reason": "not-utf8"]
            )
            let end = try await carillon.run("tail", "dead-letters", "--no-follow")
            #expect(end.lines.count == 3)
            #expect(end.output.contains("shop/ana/a  dead letter: invalid from t  {not JSON"))
            #expect(end.output.contains("shop/ana/b  dead letter: misrouted  (no value: a tombstone)"))
            #expect(end.output.contains(#"shop/ana/c\u{1b}[2J  dead letter: not-utf8  (2 bytes)"#))
            #expect(!end.output.contains("\u{1B}"))
            let colours = try await carillon.run(
                "tail",
                "dead-letters",
                "--no-follow",
                "--count",
                "1",
                "--color",
                "always"
            )
            #expect(colours.output.contains("\u{1B}[31mdead letter"))
        }
    }

    @Test("since shows no older records, also if the broker does not find an offset by time")
    func since() async throws {
        try await CarillonCommand.withCluster { carillon in
            let old = Int(Date().timeIntervalSince1970 * 1_000) - 3_600_000
            _ = try await PythonProducer.send(
                [
                    TestRecord(
                        topic: carillon.cluster.topic("requests"),
                        value: Data("old".utf8),
                        recipient: "a",
                        timestamp: old
                    ),
                    TestRecord(topic: carillon.cluster.topic("requests"), value: Data("new".utf8), recipient: "a"),
                ].map(\.line),
                to: carillon.cluster
            )
            let all = try await carillon.run("tail", "requests", "--no-follow", "--json", "--since", "2h")
            #expect(all.lines.count == 2, "\(all.errors)")
            let new = try await carillon.run("tail", "requests", "--no-follow", "--json", "--since", "30m")
            #expect(new.members("valueBase64") == [Data("new".utf8).base64EncodedString()])
            let none = try await carillon.run("tail", "requests", "--no-follow", "--since", "2200-01-01T00:00:00Z")
            #expect(none.status == 0)
            #expect(none.output.isEmpty)
        }
    }

    @Test(
        "since asks the broker where that time is, and reads each partition from there",
        .disabled(if: Cluster.isReal)
    )
    func sinceByBroker() async throws {
        try await CarillonCommand.withCluster { carillon in
            _ = try await carillon.run(
                "send",
                "event",
                "--type",
                "a",
                "--subject",
                "s-{n}",
                "--count",
                "200",
                "--rate",
                "1000"
            )
            let records = try await carillon.run("tail", "business-events", "--no-follow", "--json")
            let places = records.lines.indices.compactMap { index -> (partition: String, offset: Int, id: String)? in
                guard let partition = records.members("partition")[index],
                    let offset = records.members("offset")[index].flatMap({ Int($0) }),
                    let id = records.members("headers.ce_id")[index]
                else { return nil }
                return (partition, offset, id)
            }
            #expect(places.count == 200)
            // All records are younger than the requested time: records can be left out only by their offset.
            let partitions = Set(places.map(\.partition)).sorted()
            #expect(partitions.count > 2)
            var times: [String: [[Int]]] = [:]
            for partition in partitions.dropFirst() { times[partition] = [[1_000, 2]] }
            let broker = try ChildProcess(
                try Tools.python(),
                [
                    Tools.client("times.py"), carillon.cluster.bootstrapServers,
                    JSONLine.text([carillon.cluster.topic("business-events"): times]),
                ],
                keepsInput: true
            )
            try await eventually("it listens", orSay: { broker.lastWords }) { !broker.outputLines.isEmpty }
            let address = "127.0.0.1:\(try #require(broker.outputLines.first))"
            let found = try await carillon.run(
                "tail",
                "business-events",
                "--no-follow",
                "--json",
                "--since",
                "1970-01-01T00:00:01Z",
                "--bootstrap-servers",
                address
            )
            await broker.end()
            #expect(found.status == 0, "\(found.errors) \(broker.lastWords)")
            let expected = places.filter { $0.partition != partitions[0] && $0.offset >= 2 }.map(\.id)
            #expect(!expected.isEmpty)
            #expect(Set(found.members("headers.ce_id")) == Set(expected))
            let asked = broker.outputLines.dropFirst().map { $0.split(separator: " ") }
            #expect(Set(asked.map { String($0[1]) }).isSuperset(of: partitions))
            #expect(asked.allSatisfy { $0[2] == "1000" })
        }
    }

    @Test("it follows from the end, shows each new record, and ends with 130 by Ctrl-C")
    func follows() async throws {
        try await CarillonCommand.withCluster { carillon in
            try await put(carillon, "deliveries", "shop/ana/before", "{}")
            let child = try carillon.start(["tail", "deliveries", "--json"])
            // It may not read yet: something is sent until it shows.
            try await eventually("a record is shown", orSay: { child.lastWords }) {
                try await put(carillon, "deliveries", "shop/ana/after", "{}")
                return !child.outputLines.isEmpty
            }
            #expect(!child.outputText.contains("before"))
            child.signal(SIGINT)
            #expect(try await child.ended() == 130, "\(child.lastWords)")
            #expect(child.errorText.isEmpty, "\(child.errorText)")
        }
    }

    @Test("a reader that goes away ends it quietly")
    func brokenPipe() async throws {
        try await CarillonCommand.withCluster { carillon in
            _ = try await carillon.run(
                "send",
                "notification",
                "--recipient",
                "u-{n}",
                "--identifier",
                "i",
                "--title",
                "T",
                "--count",
                "3000"
            )
            let end = try await carillon.shell(
                "set -o pipefail; \"$carillon\" tail requests --from beginning | head -n 1"
            )
            #expect(end.status == 0)
            #expect(end.lines.count == 1)
            #expect(end.errors.isEmpty, "\(end.errors)")
        }
    }

    @Test("a topic or a file that is not there is 66, a wrong option 64")
    func statuses() async throws {
        try await CarillonCommand.withCluster { carillon in
            let topic = try await carillon.run("tail", "no-such-topic", "--no-follow")
            #expect(topic.status == 66)
            #expect(topic.errors.contains("there is no topic no-such-topic at \(carillon.cluster.bootstrapServers)"))
            let file = try await carillon.run("tail", "requests", "--bootstrap-file", "/no/such/file")
            #expect(file.status == 66)
            #expect(file.errors.contains("/no/such/file"))
            let since = try await carillon.run("tail", "requests", "--since", "yesterday")
            #expect(since.status == 64)
            #expect(since.errors.contains("--since"))
        }
    }

    @Test("completions are a script that the shell accepts, with the topics and the types")
    func completions() async throws {
        let script = try await ChildProcess.run(
            try Tools.product("carillon"),
            ["--generate-completion-script", "bash"]
        )
        let folder = try TemporaryFolder()
        let file = try folder.write(script.outputText, to: "completion.bash")
        func completed(_ words: String) async throws -> [Substring] {
            let child = try await ChildProcess.run(
                "/bin/bash",
                [
                    "-c",
                    """
                    source \(file)
                    COMP_LINE="\(words)"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                    _carillon carillon "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """,
                ]
            )
            return child.outputLines
        }
        #expect(try await completed("carillon tail de") == ["devices", "deliveries", "dead-letters"])
        #expect(
            try await completed("carillon tail deliveries --type ca").sorted() == ["cancellation.missed", "cancelled"]
        )
        #expect(try await completed("carillon send remo") == ["removal"])
        #expect(try await completed("carillon tail requests --color n") == ["never"])
    }
}
