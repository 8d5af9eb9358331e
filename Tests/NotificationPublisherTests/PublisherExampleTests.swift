import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher
import Testing

@Suite("The example of the page Sending")
struct PublisherExampleTests {
    @Test("It publishes a request and cancels it")
    func example() async throws {
        let broker = try LocalBroker(topics: ["carillon.requests": 3])
        let brokers = broker.bootstrapServers
        let logger = Logger(label: "example")

        // Example begins
        let client = KafkaClientConfiguration(bootstrapServers: brokers)
        let producer = try KafkaProducer(configuration: .init(client: client), logger: logger)
        let publisher = NotificationPublisher(
            producer: producer,
            configuration: .init(source: "/shop", defaultApplication: "shop")
        )
        let content = NotificationContent(title: "On its way", body: "Order 1001 has shipped.")
        let inAnHour = NotificationTrigger.timeInterval(.init(timeInterval: 3600))
        let receipt = try await publisher.publish(content, to: "user-42", as: "order-1001", trigger: inAnHour)
        try await publisher.remove("order-1001", of: "user-42", .pending)
        await producer.shutDown(within: .seconds(5))
        // Example ends

        #expect(receipt.topic == "carillon.requests")
        var records: [KafkaConsumerRecord] = []
        let sequence = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration()),
            topics: ["carillon.requests"],
            start: .beginning,
            logger: logger
        )
        for try await record in sequence {
            records.append(record)
            if records.count == 2 { break }
        }
        #expect(records[0].offset == receipt.offset)
        #expect(records[0].header("ce_type") == "carillon.notification.request.v1")
        #expect(records[1].header("ce_type") == "carillon.notification.removal.v1")
        await broker.shutDown()
    }

    @Test("The page shows the code that runs here")
    func page() throws {
        let here = URL(filePath: #filePath)
        let source = try String(contentsOf: here, encoding: .utf8)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let place = "Sources/carillon/carillon.docc/Sending.md"
        let page = try String(contentsOf: root.appending(path: place), encoding: .utf8)
        let begin = try #require(source.range(of: "// Example begins\n"))
        let end = try #require(source.range(of: "        // Example ends", range: begin.upperBound..<source.endIndex))
        let lines = source[begin.upperBound..<end.lowerBound].split(separator: "\n").map { $0.dropFirst(8) }
        #expect(lines.count >= 10)
        #expect(page.contains(lines.joined(separator: "\n")))
    }
}
