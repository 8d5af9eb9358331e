import Foundation
import Testing

/// A changelog into which something else wrote, and the command that mends it.
@Suite("carillon state remove", .serialized)
struct StateCommandTests {
    @Test("the command in a refusal removes the records, and the next start works")
    func remove() async throws {
        let cluster = try Cluster.inProcess()
        let carillon = CarillonCommand(cluster: cluster)
        // One key is not text; the last record is of a notification that must not be removed by mistake.
        try await put(cluster, 3, Data([0xFF, 0x27, 0x24, 0x20, 0x66]), "junk")
        try await put(cluster, 3, Data("somebody else's".utf8), "junk")
        try await put(cluster, 5, Data("shop/ana/order".utf8), "junk")
        try await put(cluster, 5, Data("shop/ana/kept".utf8), #"{"form":1}"#)

        let refused = try start(cluster, 1)
        let status = try await refused.child.ended()
        #expect(status != 0)
        let log = refused.child.errorText
        let command = try #require(
            log.firstMatch(of: /carillon (state remove [^"']*--bootstrap-servers '[^']*')/)?.output.1,
            "\(refused.child.lastWords)"
        )
        #expect(command.hasPrefix("state remove 3:0 3:1 5:0 --topic \(cluster.topic("state")) "), "\(command)")

        let wrong = try await carillon.run("state", "remove", "3:0", "5:1")
        #expect(wrong.status == 65)
        #expect(
            wrong.errors.contains("shop/ana/kept") && wrong.errors.contains("nothing was removed"),
            "\(wrong.errors)"
        )
        #expect(wrong.output.isEmpty)
        let missing = try await carillon.run("state", "remove", "3:7")
        #expect(missing.status == 66 && missing.errors.contains("3:7"), "\(missing.errors)")
        #expect(try await carillon.run("state", "remove", "99:0").status == 66)
        #expect(try await carillon.run("state", "remove", "3").status == 64)

        let removed = try await carillon.shell("$carillon \(command)")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(
            removed.lines.count == 3 && removed.lines.allSatisfy { $0.contains("removed, key") },
            "\(removed.output)"
        )
        #expect(removed.output.contains("%FF"), "\(removed.output)")
        let again = try await carillon.shell("$carillon \(command)")
        #expect(again.status == 0 && again.output.contains("already"), "\(again.output) \(again.errors)")

        let works = try start(cluster, 2)
        do {
            try await works.ready()
        } catch {
            Issue.record(error, "\(works.child.lastWords)")
        }
        await works.child.end()
        try await cluster.stop()
    }

    private func put(_ cluster: Cluster, _ partition: Int, _ key: Data, _ value: String) async throws {
        _ = try await ChildProcess.run(
            try Tools.program("kcat"),
            ["-b", cluster.bootstrapServers, "-P", "-t", cluster.topic("state"), "-p", "\(partition)", "-K", "="],
            input: key + Data("=\(value)\n".utf8)
        )
    }

    private func start(_ cluster: Cluster, _ number: Int) throws -> ServiceProcess {
        let settings = ServiceProcess.settings(cluster, deployment: "stray")
        return try ServiceProcess.consumer(settings, deployment: "stray-\(number)")
    }
}
