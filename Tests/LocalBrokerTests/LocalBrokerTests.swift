import Foundation
import Kafka
import LocalBroker
import Logging
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(10)))
struct LocalBrokerTests {
    private func producer(for broker: LocalBroker) throws -> KafkaProducer {
        try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
    }

    /// The values of a partition, from its beginning to its end.
    private func texts(in place: KafkaTopicPartition, on broker: LocalBroker) async throws -> [String] {
        try await KafkaThread.run(name: "read") {
            let consumer = try KafkaConsumer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
            defer { consumer.close(within: .seconds(5)) }
            let end = try consumer.watermarks(of: place, within: .seconds(120)).high
            try consumer.assign([place: KafkaOffset.beginning])
            var texts: [String] = []
            let deadline = ContinuousClock.now.advanced(by: .seconds(300))
            while texts.count < end, ContinuousClock.now < deadline {
                guard let message = try consumer.poll(within: .milliseconds(50)) else { continue }
                texts.append(String(decoding: message.value() ?? [], as: UTF8.self))
            }
            return texts
        }
    }

    @Test func `topics have the requested number of partitions`() async throws {
        let broker = try LocalBroker(topics: ["one": 1, "twelve": 12])
        try broker.createTopic("later", partitions: 3)
        let producer = try producer(for: broker)
        for (topic, partitions) in [("one", 1), ("twelve", 12), ("later", 3)] as [(String, Int32)] {
            #expect(try await producer.partitionCount(of: topic) == partitions)
        }
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `an invalid topic is an error with a reason`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        for (name, partitions) in [("t", 1), ("", 1), ("a b", 1), ("a\0", 1), ("u", 0), ("u", -1), ("u", .max)] {
            let error = #expect(throws: LocalBrokerError.self) { try broker.createTopic(name, partitions: partitions) }
            #expect(error?.description.contains("\"\(name)\"") == true)
        }
        #expect(throws: LocalBrokerError.self) { try LocalBroker(brokers: 0) }
        #expect(throws: LocalBrokerError.self) { try LocalBroker(topics: ["u": 0]) }
        await broker.shutDown()
    }

    @Test func `several brokers share the partitions, and a stopped one keeps its own`() async throws {
        let broker = try LocalBroker(brokers: 3, topics: ["t": 6])
        #expect(broker.brokers == 3 && Set(broker.bootstrapServers).count == 3)
        let producer = try producer(for: broker)
        func sendToAll() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for partition in 0..<6 as Range<Int32> {
                    group.addTask { _ = try await producer.send(.init(topic: "t", partition: partition, value: [65])) }
                }
                try await group.waitForAll()
            }
        }
        try await sendToAll()
        try broker.setBroker(2, isUp: false)
        async let second: Void = sendToAll()
        try broker.setBroker(2, isUp: true)
        try await second
        for partition in 0..<6 as Range<Int32> {
            let texts = try await texts(in: .init(topic: "t", partition: partition), on: broker)
            #expect(texts.count >= 2 && Set(texts) == ["A"])
        }
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `injected errors apply once each, and can be cleared`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try producer(for: broker)
        broker.inject(errors: [.messageTooLarge], on: .produce)
        let error = await #expect(throws: KafkaError.self) { try await producer.send(.init(topic: "t", value: [65])) }
        #expect(error?.code == .messageTooLarge && error?.isRetriable == false)
        broker.inject(errors: [.messageTooLarge], on: .produce)
        broker.clearErrors(on: .produce)
        // A failed produce request has written nothing.
        #expect(try await producer.send(.init(topic: "t", partition: 0, value: [66])).offset == 0)
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `after a lost reply the record is written twice, because the client retries`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try producer(for: broker)
        func send(_ text: String) async throws {
            _ = try await producer.send(.init(topic: "t", partition: 0, value: Array(text.utf8)))
        }
        try await send("a")
        try broker.loseReply(of: .produce)
        try await send("b")
        try broker.loseReply(of: .produce, after: .milliseconds(50))
        try await send("c")
        try await send("d")
        #expect(try await texts(in: .init(topic: "t", partition: 0), on: broker) == ["a", "b", "b", "c", "c", "d"])
        #expect(throws: LocalBrokerError.self) { try broker.loseReply(of: .produce, broker: 9) }
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `latency delays the answer`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try producer(for: broker)
        _ = try await producer.send(.init(topic: "t", partition: 0, value: []))
        try broker.setLatency(.milliseconds(200))
        let start = ContinuousClock.now
        _ = try await producer.send(.init(topic: "t", partition: 0, value: []))
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        try broker.setLatency(.zero)
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `after the shutdown faults are errors, and a second shutdown is not`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try broker.loseReply(of: .produce)
        await broker.shutDown()
        await broker.shutDown()
        broker.inject(errors: [.notLeader], on: .produce)
        broker.clearErrors(on: .produce)
        #expect(throws: LocalBrokerError.self) { try broker.createTopic("u", partitions: 1) }
        #expect(throws: LocalBrokerError.self) { try broker.setBroker(isUp: false) }
        #expect(throws: LocalBrokerError.self) { try broker.setLatency(.seconds(1)) }
        #expect(throws: LocalBrokerError.self) { try broker.loseReply(of: .produce) }
    }

    @Test func `a broker that is released shuts down`() async throws {
        let servers = try { try LocalBroker(topics: ["t": 1]).bootstrapServers }()
        let producer = try KafkaProducer(
            configuration: .init(client: .init(bootstrapServers: servers), deliveryTimeout: .milliseconds(500)),
            logger: quiet
        )
        await #expect(throws: KafkaError.self) { try await producer.send(.init(topic: "t", value: [])) }
        await producer.shutDown(within: .seconds(5))
    }

    private static let kcat = ["/usr/bin/kcat", "/usr/local/bin/kcat", "/opt/homebrew/bin/kcat"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: kcat != nil, "kcat is not installed: apt-get install kcat"))
    func `clients in other processes publish and read`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        let servers = broker.bootstrapServers.joined(separator: ",")
        let kcat = try #require(Self.kcat)
        @Sendable func run(_ arguments: [String], input: String) async throws -> String {
            try await KafkaThread.run(name: "kcat") {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: kcat)
                process.arguments = ["-b", servers] + arguments
                let (stdin, stdout) = (Pipe(), Pipe())
                process.standardInput = stdin
                process.standardOutput = stdout
                process.standardError = FileHandle.nullDevice
                try LocalBroker.whileNoBrokerGoesDown { try process.run() }
                try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
                try stdin.fileHandleForWriting.close()
                let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
                return String(decoding: output, as: UTF8.self)
            }
        }
        _ = try await run(["-P", "-t", "t", "-p", "1", "-K", ":", "-H", "a=1"], input: "k:one\nk:two\n")
        #expect(try await texts(in: .init(topic: "t", partition: 1), on: broker) == ["one", "two"])

        let producer = try producer(for: broker)
        _ = try await producer.send(
            .init(topic: "t", partition: 1, key: [107], value: [51], headers: [.init(name: "b", text: "2")])
        )
        await producer.shutDown(within: .seconds(120))
        let read = try await run(
            ["-C", "-t", "t", "-p", "1", "-o", "beginning", "-c", "3", "-f", "%p %o %k %s %h\n"],
            input: ""
        )
        #expect(read == "1 0 k one a=1\n1 1 k two a=1\n1 2 k 3 b=2\n")
        await broker.shutDown()
    }
}
