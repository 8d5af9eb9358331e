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

/// `carillon dead-letters`, with a producer service whose rules change.
@Suite("carillon dead-letters", .serialized)
struct DeadLetterCommandTests {
    private static func rule(_ type: String) -> String {
        """
          - event: \(type)
            recipient: "{{data.who}}"
            identifier: "{{id}}"
            content: {title: T}

        """
    }

    private static func event(_ id: String, _ type: String) -> Data {
        Data(#"{"specversion":"1.0","id":"\#(id)","source":"/t","type":"\#(type)","data":{"who":"ana"}}"#.utf8)
    }

    @Test(
        "what had no rule is sent again when it has one: by filter, by position and from tail, once and within its rate"
    )
    func again() async throws {
        try await CarillonCommand.withCluster { carillon in
            let folder = try TemporaryFolder()
            let rules = try folder.write("rules:\n" + Self.rule("com.example.a"), to: "rules.yaml")
            var settings = ServiceProcess.settings(carillon.cluster, deployment: "letters")
            settings["CARILLON_RULES_FILE"] = rules
            let producer = try ServiceProcess.producer(settings, deployment: "letters")
            do {
                try await producer.ready()
                let events = "\(try await producer.http)/v1/events"
                for (id, type) in [("1", "b"), ("2", "b"), ("3", "b"), ("4", "c"), ("5", "a")] {
                    let answer = try await Curl.send(
                        "POST",
                        events,
                        headers: [("content-type", "application/cloudevents+json")],
                        body: Self.event(id, "com.example.\(type)")
                    )
                    #expect(answer.status == 202, "\(answer.text)")
                }
                try await eventually("four have no rule", orSay: { producer.child.lastWords }) {
                    try await carillon.records("dead-letters").count == 4
                }

                let list = try await carillon.run("dead-letters", "list", "--reason", "no-rule")
                #expect(list.status == 0 && list.lines.count == 4, "\(list.errors)")
                #expect(list.errors == "4 dead letters: 4 no-rule\n")
                let none = try await carillon.run("dead-letters", "list", "--topic", "requests")
                #expect(none.output.isEmpty && none.errors == "no dead letters\n")
                let place = try #require(list.lines.first?.split(separator: " ").first.map(String.init))
                let shown = try await carillon.run("dead-letters", "show", place)
                #expect(shown.status == 0 && shown.output.contains("it can be sent to"), "\(shown.output)")
                #expect(shown.output.contains("ce_type: com.example."))
                let missing = try await carillon.run("dead-letters", "show", "0:999999")
                #expect(missing.status == 66 && missing.errors.contains("0:999999"), "\(missing.errors)")

                let before = try await carillon.records("business-events").count
                let dry = try await carillon.run("dead-letters", "send", "--all", "--dry-run")
                #expect(dry.status == 0 && dry.lines.last == "would send 4, would not send 0", "\(dry.errors)")
                #expect(try await carillon.records("business-events").count == before)

                _ = try folder.write(
                    "rules:\n" + ["a", "b"].map { Self.rule("com.example.\($0)") }.joined(),
                    to: "rules.yaml"
                )
                producer.child.signal(SIGHUP)
                try await eventually("the new rules are in force", orSay: { producer.child.lastWords }) {
                    try await producer.metrics.contains("carillon_rules_reloads_total{outcome=\"success\"} 1")
                }
                let one = try await carillon.run("dead-letters", "send", place)
                #expect(one.status == 0 && one.output.contains("dead letter \(place) is at "), "\(one.errors)")
                let all = try await carillon.run(
                    "dead-letters",
                    "send",
                    "--reason",
                    "no-rule",
                    "--since",
                    "1h",
                    "--json",
                    "--rate",
                    "1000"
                )
                #expect(all.status == 0 && all.lines.count == 4, "\(all.errors)")
                #expect(all.errors.hasPrefix("sent 4, acknowledged 4, failed 0"), "\(all.errors)")
                #expect(Set(all.members("topic")) == [carillon.cluster.topic("business-events")])
                let piped = try await carillon.shell(
                    "$carillon tail dead-letters --no-follow --json | grep '\"ce_id\":\"2\"' | head -n 1 | "
                        + "$carillon dead-letters send --file -"
                )
                #expect(piped.status == 0 && piped.output.contains("sent 1, acknowledged 1"), "\(piped.errors)")

                // Repeats have the id of the first, so the consumer service drops them.
                try await eventually("b has its requests", orSay: { producer.child.lastWords }) {
                    Set(try await carillon.records("requests").map(\.key))
                        == Set((1...5).filter { $0 != 4 }.map { "shop/ana/\($0)" })
                }
                let requests = try await carillon.records("requests").filter { $0.key == "shop/ana/2" }
                #expect(Set(requests.map { $0["requestId"] }).count == 1)
                // The record is the one that it was.
                let copies = try await carillon.records("business-events").filter { $0.headers["ce_id"] == "4" }
                #expect(copies.count >= 2 && Set(copies.map(\.payload)).count == 1)
                #expect(Set(copies.map(\.key)).count == 1 && Set(copies.map(\.headers)).count == 1)
                producer.child.signal(SIGTERM)
                #expect(try await producer.child.ended() == 0, "\(producer.child.lastWords)")
            } catch {
                Issue.record(error, "\(producer.child.lastWords)")
            }
            await producer.child.end()
        }
    }
}
