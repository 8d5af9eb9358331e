import Foundation
import Kafka
import Testing

/// The example in `deploy/examples/java`.
@Suite("The Java example", .serialized, .timeLimit(.minutes(5)))
struct JavaExampleTests {
    private static let folder = Tools.package.appendingPathComponent("deploy/examples/java")
    private static let java: String? = try? Tools.program("java")
    private static let compiler: String? = try? Tools.program("javac")

    private static func run(_ arguments: [String] = []) async throws -> [String] {
        let answer = try await ChildProcess.run(
            try #require(java),
            ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", folder.appendingPathComponent("Notify.java").path]
                + arguments,
            environment: ["LC_ALL": "C.UTF-8"]
        )
        return answer.outputLines.map(String.init)
    }

    @Test("finds the partitions that the client finds", .enabled(if: java != nil, "java is not installed"))
    func partitions() async throws {
        #expect(try await Self.run().count == 1)
        let names = ["a", "ab", "abc", "abcd", "abcde", "ana/1", "北京", "😀", String(repeating: "x", count: 255)]
        let found = try await Self.run(["partition", "24"] + names)
        #expect(found == names.map { "\(KafkaPartitioner.partition(forKey: Array($0.utf8), count: 24))" })
    }

    @Test("makes a record that is delivered, with its key", .enabled(if: java != nil, "java is not installed"))
    func delivered() async throws {
        let stack = try await Stack.start()
        do {
            let recipient = stack.recipient("ana/\"北京\" ~")
            let count = "\(try await Self.partitions(of: stack))"
            let lines = try await Self.run(["request", count, "shop", recipient, "order 1", "On \"its\" \\ way\n"])
            try #require(lines.count == 3, "\(lines)")
            let request = TestRecord(
                topic: stack.cluster.topic("requests"),
                key: lines[1],
                value: Data(lines[2].utf8),
                recipient: recipient
            )
            let placed = try await stack.send([request])
            #expect(placed.map(\.partition) == [Int(lines[0])])
            let event = try await stack.event("delivered", recipient, "order 1")
            #expect(event["content.title"] == "On \"its\" \\ way\n" && event["application"] == "shop")
        } catch {
            Issue.record(error, "\(stack.consumer.child.lastWords)")
        }
        try await stack.stop()
    }

    private static func partitions(of stack: Stack) async throws -> Int {
        let page = try await stack.consumer.metrics
        let line = page.split(separator: "\n").first { $0.hasPrefix("carillon_assigned_partitions ") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    }

    /// What the producer of the example uses of kafka-clients, which is not among the packages of the tests.
    private static let signatures = [
        "clients/producer/KafkaProducer": """
        public class KafkaProducer<K, V> {
            public KafkaProducer(java.util.Properties properties,
                org.apache.kafka.common.serialization.Serializer<K> keys,
                org.apache.kafka.common.serialization.Serializer<V> values) {}
            public java.util.List<Object> partitionsFor(String topic) { return null; }
            public java.util.concurrent.Future<Object> send(ProducerRecord<K, V> record) { return null; }
            public void close() {}
        }
        """,
        "clients/producer/ProducerRecord": """
        public class ProducerRecord<K, V> { public ProducerRecord(String topic, Integer partition, K key, V value) {} }
        """,
        "common/serialization/Serializer": "public interface Serializer<T> {}",
        "common/serialization/StringSerializer": "public class StringSerializer implements Serializer<String> {}",
    ]

    @Test(
        "its producer compiles against the signatures of kafka-clients",
        .enabled(if: compiler != nil, "javac is not installed")
    )
    func compiles() async throws {
        let temporary = try TemporaryFolder()
        var files = ["Notify", "NotificationSender"].map { Self.folder.appendingPathComponent("\($0).java").path }
        for (name, text) in Self.signatures {
            let path = temporary.file("org/apache/kafka/\(name).java")
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let package = "org.apache.kafka." + (name as NSString).deletingLastPathComponent.replacing("/", with: ".")
            try Data("package \(package);\n\(text)\n".utf8).write(to: URL(fileURLWithPath: path))
            files.append(path)
        }
        let answer = try await ChildProcess.run(
            try #require(Self.compiler),
            ["-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d", temporary.file("classes")] + files
        )
        #expect(answer.outputText.isEmpty)
    }
}
