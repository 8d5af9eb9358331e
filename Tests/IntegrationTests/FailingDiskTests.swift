import Foundation
import Testing
import TestSupport

/// A consumer service whose disk is full for a while: the system refuses writes to files.
@Suite("A disk that fails", .serialized)
struct FailingDiskTests {
    @Test(
        "the consumer service starts and works without its disk, reports that, and returns to the disk when there is room"
    )
    func failingDisk() async throws {
        let cluster = try Cluster.inProcess()
        let folder = try TemporaryFolder()
        var settings = ServiceProcess.settings(cluster, deployment: "disk")
        settings["CARILLON_STORE_DIRECTORY"] = folder.file("store")
        settings["CARILLON_CONSUMER_GROUP"] = "disk-consumer"
        settings["CARILLON_CONSUMER_LANES"] = "1"
        // Room for the log, and for no file of the store.
        let consumer = ServiceProcess(
            try ChildProcess(
                "/bin/bash",
                ["-c", "trap '' XFSZ; ulimit -S -f 24; exec \(try Tools.product("carillon-consumer"))"],
                environment: settings
            )
        )
        do {
            try await consumer.ready()
            try await remarks(consumer) { $0.contains("store.directory") && $0.contains("kept in memory") }
            try await metric(consumer, "carillon_store_troubled_partitions") { $0 == 8 }
            #expect(consumer.child.errorText.contains("the store cannot be written to disk"))
            try await timer(cluster, "first")
            try await metric(consumer, #"carillon_notification_events_total{name="delivered"}"#) { $0 == 1 }

            try await limit(consumer, "unlimited")
            try await remarks(consumer) { !$0.contains("remarks") }
            try await metric(consumer, "carillon_store_troubled_partitions") { $0 == 0 }
            try await metric(consumer, "carillon_store_disk_bytes") { $0 >= 8 * 4096 }

            // While it is in use: not a byte more.
            try await limit(consumer, "1")
            try await timer(cluster, "second")
            try await metric(consumer, #"carillon_notification_events_total{name="delivered"}"#) { $0 == 2 }
            try await remarks(consumer) { $0.contains("kept in memory") }
            #expect(try await consumer.health("ready").status == 200)
            try await limit(consumer, "unlimited")
            try await remarks(consumer) { !$0.contains("remarks") }
            try await metric(consumer, "carillon_store_unwritten_changes") { $0 == 0 }
        } catch {
            Issue.record(error, "\(consumer.child.lastWords)")
        }
        await consumer.child.end()
        try await cluster.stop()
    }

    private func limit(_ consumer: ServiceProcess, _ bytes: String) async throws {
        _ = try await ChildProcess.run(
            try Tools.program("prlimit"),
            ["--pid", "\(consumer.child.pid)", "--fsize=\(bytes):"]
        )
    }

    private func timer(_ cluster: Cluster, _ name: String) async throws {
        let record = TestRecord(
            topic: cluster.topic("requests"),
            key: "shop/ana/\(name)",
            value: Data(#"{"trigger":{"type":"timeInterval","timeInterval":2},"content":{"title":"T"}}"#.utf8),
            recipient: "ana"
        )
        _ = try await PythonProducer.send([record.line], to: cluster)
    }

    private func remarks(_ consumer: ServiceProcess, _ condition: (String) -> Bool) async throws {
        var last = ""
        try await eventually("its readiness says it", orSay: { last }) {
            last = try await consumer.health("ready").text
            return condition(last)
        }
    }

    private func metric(_ consumer: ServiceProcess, _ name: String, _ condition: (Double) -> Bool) async throws {
        var last = ""
        try await eventually("\(name) is right", orSay: { last }) {
            last =
                try await consumer.metrics.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.map(String.init)
                ?? ""
            return last.split(separator: " ").last.flatMap { Double($0) }.map(condition) ?? false
        }
    }
}
