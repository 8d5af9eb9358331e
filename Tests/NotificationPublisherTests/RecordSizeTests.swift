import Kafka
import LocalBroker
import Logging
import NotificationModel
import Testing
import TestSupport

@testable import NotificationPublisher

/// Compares the record size of the model with that of librdkafka.
@Suite(.timeLimit(.minutes(10)))
struct RecordSizeTests {
    @Test(arguments: [1_000, 65_536, 100_000, 1_000_000])
    func `a record within the model's limit fits in Kafka; without headers both limits agree`(bound: Int) async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await KafkaThread.run(name: "test") {
            var client = broker.clientConfiguration()
            client.properties["message.max.bytes"] = "\(bound)"
            let producer = try KafkaLaneProducer(configuration: .init(client: client), logger: quiet)
            defer { producer.close(within: .seconds(5)) }
            let topic = try producer.topic("t")
            func isTaken(key: Int, headers: [(name: String, value: Int)], beyond: Int) throws -> Bool {
                var buffer = KafkaHeaderBuffer()
                for (name, value) in headers {
                    buffer.append(KafkaHeader(name: name, value: [UInt8](repeating: 0, count: value)))
                }
                let rest = RecordBound.size(
                    key: key,
                    value: 0,
                    headers: buffer.count,
                    headerBytes: buffer.byteCount
                )
                do throws(KafkaError) {
                    try producer.enqueue(
                        topic: topic,
                        partition: 0,
                        key: [UInt8](repeating: 0, count: key),
                        value: [UInt8](repeating: 0, count: bound - rest + beyond),
                        headers: buffer,
                        tag: 0
                    )
                    return true
                } catch {
                    guard error.code == .messageTooLarge else { throw error }
                    return false
                }
            }
            for key in [0, 1, 100, 500] {
                #expect(try isTaken(key: key, headers: [], beyond: 0))
                #expect(try !isTaken(key: key, headers: [], beyond: 1))
                #expect(try isTaken(key: key, headers: [("a", 0)], beyond: 0))
                #expect(try isTaken(key: key, headers: Array(repeating: ("name", 3), count: 15), beyond: 0))
                #expect(try isTaken(key: key, headers: [("name", bound / 3)], beyond: 0))
            }
            var failures = 0
            #expect(producer.flush(within: .seconds(120)) { failures += $0.error == nil ? 0 : 1 })
            #expect(failures == 0)
        }
        await broker.shutDown()
    }

    @Test func `the largest record of a request is no smaller than the written one`() throws {
        let longest = String(repeating: "%", count: 256)
        let key = try NotificationKey(application: longest, recipient: longest, identifier: longest)
        let headers = RequestHeaders(source: "/carillon/production")
        let trace = try #require(
            TraceContext(
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                tracestate: String(repeating: "a", count: 512)
            )
        )
        for id in [RequestID.random(), try RequestID(text: String(repeating: "x", count: 128))] {
            for (isRemoval, trace) in [(true, trace), (false, nil)] as [(Bool, TraceContext?)] {
                let list = headers.list(
                    key: key,
                    requestID: id,
                    isRemoval: isRemoval,
                    time: Timestamp(rawValue: 1_795_000_000_000),
                    trace: trace
                )
                let real = RecordBound.size(
                    key: key.encoded,
                    value: [1, 2, 3],
                    headers: list.map { ($0.name, $0.value) }
                )
                let largest = headers.largestRecord(key: key, valueBytes: 3, trace: trace)
                #expect((real...(real + 300)).contains(largest), "\(real) \(largest)")
            }
        }
    }
}
