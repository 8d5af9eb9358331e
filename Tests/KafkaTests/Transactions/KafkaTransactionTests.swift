import LocalBroker
import Testing
import TestSupport

@testable import Kafka

/// Runs on the mock cluster, which answers the calls, but does not hide aborted records, keep offsets, or fence.
@Suite(.timeLimit(.minutes(10)))
struct KafkaTransactionTests {
    @Test func `transactions follow one another: with offsets, with records, with neither`() async throws {
        try await withDesk { _, desk in
            try desk.initialize()
            try desk.transaction(0..<100)
            try desk.transaction(100..<200, offset: 2)
            try desk.transaction(200..<200, offset: 3)
            try desk.producer.beginTransaction()
            try desk.producer.sendOffsets([:], of: desk.consumer, within: .seconds(5))
            try desk.commit()
            #expect(Set(desk.acknowledged) == Set(0..<200) && desk.reports.count == 200)
        }
    }

    @Test func `an abort reports each of many outstanding records once, and the next transaction is complete`()
        async throws
    {
        try await withDesk { _, desk in
            try desk.initialize()
            try desk.transaction(0..<10)
            try desk.producer.beginTransaction()
            try desk.put(10..<20_000)
            try desk.abort()
            #expect(desk.producer.outstanding == 0)
            #expect(desk.reports.count == 20_000 && Set(desk.reports.map(\.tag)).count == 20_000)
            try desk.transaction(20_000..<20_010)
            #expect(desk.acknowledged.suffix(10).sorted() == Array(20_000..<20_010))
        }
    }

    @Test func `an abort does not wait for records that librdkafka has not sent yet`() async throws {
        // Longer than any wait in this test.
        try await withDesk(linger: .seconds(100)) { _, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<8_000)
            try desk.abort()
            #expect(Set(desk.reports.map(\.tag)) == Set(0..<8_000) && desk.reports.count == 8_000)
            #expect(desk.reports.allSatisfy { $0.error?.code == .purgedFromQueue })
            try desk.producer.beginTransaction()
            try desk.send(1)
            try desk.commit()
        }
    }

    @Test func `an abort is repeated until the broker is back`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<1)
            #expect(desk.flush())
            try broker.setBroker(isUp: false)
            try desk.put(1..<500)
            var attempts = 0
            try desk.perform(.abort) { _ throws(KafkaError) in
                attempts += 1
                if attempts == 2 { try? broker.setBroker(isUp: true) }
                try desk.producer.abortTransaction(within: .seconds(attempts == 1 ? 0 : 30)) {
                    desk.reports.append($0)
                }
            }
            #expect(attempts >= 2)
            #expect(desk.reports.count == 500 && Set(desk.reports.map(\.tag)).count == 500)
            try desk.transaction(500..<510)
        }
    }

    @Test func `a commit waits for outstanding records, and commits nothing without them`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<100)
            try desk.commit()
            #expect(desk.acknowledged.count == 100)
            try desk.producer.beginTransaction()
            try broker.setBroker(isUp: false)
            try desk.put(100..<200)
            let failure = try KafkaTests.failure { try desk.commit(within: .milliseconds(300)) }
            #expect(failure.decision == .abort && failure.error.requiresAbort)
            try broker.setBroker(isUp: true)
            try desk.abort()
            #expect(desk.reports.count == 200)
        }
    }

    @Test func `a transaction with an unconfirmed record is not committed`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.transaction(0..<10)
            try desk.producer.beginTransaction()
            try desk.put(10..<11)
            // Set by hand: the mock cluster refuses all records after a refused one of a transaction.
            desk.producer.unconfirmed = .unconfirmed(in: "t")
            let failure = try KafkaTests.failure { try desk.commit() }
            #expect(failure.decision == .abort && failure.error.code == .unconfirmed)
            try desk.abort()
            try desk.transaction(20..<30)
            #expect(desk.reports.count == 21)
        }
    }

    // MARK: - Errors of the broker

    /// A request kind, the injected error, and the expected consequence.
    struct Fault: Sendable, CustomTestStringConvertible {
        var request: LocalBroker.RequestKind
        var code: Int32
        var isFatal = false
        var testDescription: String { "\(code) for request \(request.rawValue)" }
    }

    @Test(
        "A retriable error is recovered from",
        arguments: [
            Fault(request: .initProducerID, code: 15), Fault(request: .initProducerID, code: 51),
            Fault(request: .addPartitionsToTransaction, code: 51), Fault(request: .addOffsetsToTransaction, code: 14),
            Fault(request: .addOffsetsToTransaction, code: 51), Fault(request: .transactionOffsetCommit, code: 14),
            Fault(request: .endTransaction, code: 51), Fault(request: .endTransaction, code: -195),
        ]
    )
    func retriable(fault: Fault) async throws {
        try await withDesk { broker, desk in
            broker.inject(errors: [.init(rawValue: fault.code), .init(rawValue: fault.code)], on: fault.request)
            try desk.initialize()
            try desk.transaction(0..<10)
            #expect(desk.acknowledged.count == 10)
        }
    }

    @Test(
        "An error that requires an abort is flagged so, and after the abort the producer continues",
        arguments: [
            Fault(request: .addPartitionsToTransaction, code: 29), Fault(request: .addOffsetsToTransaction, code: 30),
            Fault(request: .transactionOffsetCommit, code: 22), Fault(request: .transactionOffsetCommit, code: 25),
            Fault(request: .transactionOffsetCommit, code: 82), Fault(request: .endTransaction, code: 87),
        ]
    )
    func abortable(fault: Fault) async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            broker.inject(errors: [.init(rawValue: fault.code)], on: fault.request)
            let failure = try KafkaTests.failure { try desk.transaction(0..<10) }
            #expect(failure.decision == .abort && failure.error.requiresAbort && !failure.error.isFatal)
            #expect(failure.error.code.rawValue == fault.code)
            // The transaction accepts no more records, and cannot be committed.
            let refused = #expect(throws: KafkaError.self) { try desk.put(10..<11) }
            #expect(refused.map { KafkaTransactionPolicy.decision(after: $0, in: .publish) } == .abort)
            #expect(try KafkaTests.failure { try desk.commit() }.decision == .abort)
            try desk.abort()
            #expect(desk.reports.count == 10)
            try desk.transaction(20..<30)
            #expect(desk.acknowledged.suffix(10).sorted() == Array(20..<30))
        }
    }

    @Test(
        "After a fatal error every call throws it, records are reported, and a new producer continues",
        arguments: [
            Fault(request: .initProducerID, code: 53, isFatal: true),
            Fault(request: .addPartitionsToTransaction, code: 90), Fault(request: .addOffsetsToTransaction, code: 47),
            Fault(request: .transactionOffsetCommit, code: 47), Fault(request: .endTransaction, code: 47),
        ]
    )
    func fatal(fault: Fault) async throws {
        try await withDesk { broker, desk in
            broker.inject(errors: [.init(rawValue: fault.code)], on: fault.request)
            let failure = try KafkaTests.failure {
                try desk.initialize()
                try desk.transaction(0..<10)
            }
            #expect(failure.decision == .recreate && failure.error.isFatal)
            #expect(failure.error.code == (fault.code == 53 ? .init(rawValue: 53) : .fenced))
            try Self.expectFatal(desk, failure.error.code)
            let next = try TransactionDesk(broker)
            defer { next.close() }
            try next.initialize()
            try next.transaction(100..<110)
            #expect(next.acknowledged.count == 10)
        }
    }

    /// Each call throws that fatal error, and nothing stays outstanding.
    private static func expectFatal(_ desk: TransactionDesk, _ code: KafkaError.Code) throws {
        #expect(desk.flush())
        let producer = desk.producer
        let calls: [() throws -> Void] = [
            { try desk.put(50..<51) }, { _ = try producer.topic("other") },
            { _ = try producer.partitionCount(of: "t", within: .seconds(5)) },
            { try producer.initTransactions(within: .seconds(5)) }, { try producer.beginTransaction() },
            { try producer.sendOffsets([TransactionDesk.place: 1], of: desk.consumer, within: .seconds(5)) },
            { try producer.commitTransaction(within: .seconds(5)) },
            { try producer.abortTransaction(within: .seconds(5)) },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: KafkaError.self) { try call() }
            #expect(error?.isFatal == true && error?.code == code, "call \(index): \(String(describing: error))")
        }
        #expect(producer.recreations == 0)
    }

    @Test func `after a fatal client error the outstanding records are reported with errors and not resent`()
        async throws
    {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<1)
            #expect(desk.flush())
            try broker.setBroker(isUp: false)
            try desk.put(1..<300)
            desk.producer.failForTest("as after a lost batch")
            try Self.expectFatal(desk, .init(rawValue: 45))
            #expect(desk.producer.outstanding == 0)
            #expect(desk.acknowledged == [0])
            #expect(desk.reports.count == 300 && Set(desk.reports.map(\.tag)).count == 300)
            try broker.setBroker(isUp: true)
        }
    }

    @Test func `a repeated commit finds that the first one succeeded although its reply was lost`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<10)
            #expect(desk.flush())
            try desk.send(1)
            try broker.loseReply(of: .endTransaction)
            try desk.commit()
            try desk.transaction(10..<20)
        }
    }

    @Test func `a commit that is never answered leaves its outcome unknown`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try desk.put(0..<10)
            #expect(desk.flush())
            try broker.setLatency(.seconds(3_600))
            let failure = try KafkaTests.failure { try desk.commit(within: .seconds(1)) }
            #expect(failure.decision == .recreate && failure.call == .commit && !failure.error.isFatal)
            try broker.setLatency(.zero)
        }
    }

    @Test func `without a broker each call fails in time, retriable, and works when the broker is back`() async throws {
        try await withDesk { broker, desk in
            let producer = desk.producer
            func away(_ body: () throws -> Void) throws {
                try broker.setBroker(isUp: false)
                let error = #expect(throws: KafkaError.self) { try body() }
                #expect(error?.isRetriable == true && error?.isFatal == false, "\(String(describing: error))")
                try broker.setBroker(isUp: true)
            }
            try away { try producer.initTransactions(within: .zero) }
            try desk.initialize()
            try producer.beginTransaction()
            try desk.put(0..<10)
            #expect(desk.flush())
            try away { try producer.sendOffsets([TransactionDesk.place: 1], of: desk.consumer, within: .zero) }
            try desk.send(1)
            try away { try producer.commitTransaction(within: .zero) }
            try desk.commit()
            try producer.beginTransaction()
            try desk.put(10..<20)
            #expect(desk.flush())
            try away { try producer.abortTransaction(within: .zero) }
            try desk.abort()
            try desk.transaction(20..<30)
        }
    }

    // MARK: - The wrong use

    @Test func `a call out of order is refused and has no effect`() async throws {
        try await withDesk { _, desk in
            let consumer = desk.consumer
            #expect(desk.code { try $0.beginTransaction() } == .state)
            #expect(desk.code { _ in try desk.put(0..<1) } == .state)
            try desk.initialize()
            #expect(desk.code { try $0.initTransactions(within: .seconds(5)) } == .state)
            #expect(desk.code { _ in try desk.put(0..<1) } == .state)
            #expect(desk.code { try $0.commitTransaction(within: .seconds(5)) } == .state)
            #expect(desk.code { try $0.abortTransaction(within: .seconds(5)) } == .state)
            #expect(
                desk.code { try $0.sendOffsets([TransactionDesk.place: 1], of: consumer, within: .seconds(5)) }
                    == .state
            )
            try desk.producer.beginTransaction()
            #expect(desk.code { try $0.beginTransaction() } == .state)
            try desk.put(0..<1)
            try desk.commit()
            desk.close()
            #expect(desk.code { try $0.beginTransaction() } == .destroyed)
            #expect(desk.code { try $0.commitTransaction(within: .seconds(5)) } == .destroyed)
            #expect(desk.code { try $0.initTransactions(within: .seconds(5)) } == .destroyed)
        }
    }

    @Test func `sendOffsets refuses a closed consumer`() async throws {
        try await withDesk { _, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            desk.consumer.close(within: .seconds(5))
            #expect(try KafkaTests.failure { try desk.send(1) }.error.code == .destroyed)
        }
    }

    @Test func `without a transactional id the error asks for one`() async throws {
        try await withDesk(id: nil) { _, desk in
            for call in [
                { try desk.producer.initTransactions(within: .seconds(5)) }, { try desk.producer.beginTransaction() },
                { try desk.producer.abortTransaction(within: .seconds(5)) },
            ] as [() throws -> Void] {
                let error = #expect(throws: KafkaError.self) { try call() }
                #expect(error?.code == .invalidArgument && error?.reason.contains("transactionalID") == true)
            }
        }
    }

    @Test func `a close during a transaction reports its records, and the next producer continues`()
        async throws
    {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.producer.beginTransaction()
            try broker.setBroker(isUp: false)
            try desk.put(0..<100)
            desk.close()
            #expect(desk.reports.count == 100)
            try broker.setBroker(isUp: true)
            let next = try TransactionDesk(broker)
            defer { next.close() }
            try next.initialize()
            try next.transaction(0..<10)
        }
    }

    /// A real cluster fences the first producer here; the mock accepts both.
    @Test func `a second producer takes over the transactional id`() async throws {
        try await withDesk { broker, desk in
            try desk.initialize()
            try desk.transaction(0..<10)
            let next = try TransactionDesk(broker)
            defer { next.close() }
            try next.initialize()
            try next.transaction(10..<20)
            #expect(next.acknowledged.count == 10)
        }
    }

    @Test func `invalid settings are refused before anything is sent`() throws {
        let client = KafkaClientConfiguration(bootstrapServers: ["127.0.0.1:1"])
        var configuration = KafkaProducerConfiguration(client: client, deliveryTimeout: .seconds(3_600))
        configuration.transactionalID = "a"
        // Longer than the transaction timeout: librdkafka would reject it.
        let producer = try KafkaLaneProducer(configuration: configuration, logger: quiet)
        #expect(producer.handle.property("transaction.timeout.ms") == "10000")
        #expect(producer.handle.property("transactional.id") == "a")
        producer.close(within: .zero)
        configuration.deliveryTimeout = .seconds(3)
        #expect(configuration.properties.contains { $0 == ("message.timeout.ms", "3000") })
        configuration.client.properties["transaction.timeout.ms"] = "2000"
        #expect(configuration.properties.contains { $0 == ("message.timeout.ms", "2000") })
        try KafkaLaneProducer(configuration: configuration, logger: quiet).close(within: .zero)
        #expect(throws: KafkaError.self) { try KafkaProducer(configuration: configuration, logger: quiet) }
        configuration.transactionalID = ""
        #expect(throws: KafkaError.self) { try configuration.check() }
        configuration.transactionalID = nil
        configuration.client.properties["transactional.id"] = "b"
        let error = #expect(throws: KafkaError.self) { try configuration.check() }
        #expect(error?.reason.contains("transactional.id") == true)
        #expect(throws: KafkaError.self) { try KafkaLaneProducer(configuration: configuration, logger: quiet) }
    }
}
