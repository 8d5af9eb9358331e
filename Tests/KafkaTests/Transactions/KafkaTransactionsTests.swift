import Testing

@testable import Kafka

@Suite("The transactions of a loop")
struct KafkaTransactionsTests {
    /// Answers with the errors given for a call, one after the other, and then succeeds.
    private final class Calls: KafkaTransactionCalls {
        var now = ContinuousClock.now
        var errors: [KafkaTransactionCall: [KafkaError]] = [:]
        private(set) var made: [String] = []

        func wait(_ time: Duration) { now += time }

        private func call(_ call: KafkaTransactionCall, _ text: String = "") throws(KafkaError) {
            made.append(call.rawValue + text)
            guard let error = errors[call]?.first else { return }
            errors[call]?.removeFirst()
            throw error
        }

        func initTransactions(within time: Duration) throws(KafkaError) { try call(.initialize) }
        func beginTransaction() throws(KafkaError) { try call(.begin) }
        func sendOffsets(_ offsets: Int, within time: Duration) throws(KafkaError) {
            try call(.sendOffsets, " \(offsets)")
        }
        func commitTransaction(within time: Duration) throws(KafkaError) { try call(.commit) }
        func abortTransaction(within time: Duration) throws(KafkaError) { try call(.abort) }
    }

    private static let retriable = KafkaError(code: .timedOut, reason: "later", isRetriable: true)
    private static let fatal = KafkaError(code: .fenced, reason: "fenced", isFatal: true)
    private static let aborting = KafkaError(code: .state, reason: "abort", requiresAbort: true)

    private let calls = Calls()
    private var deadline: ContinuousClock.Instant { calls.now + .seconds(10) }

    @Test("A transaction begins once, with its first record or with offsets alone, and the next one begins again")
    func begin() throws {
        let transactions = KafkaTransactions(calls)
        try transactions.initialize(within: .seconds(1))
        #expect(!transactions.isOpen)
        try transactions.beginIfNeeded()
        calls.now += .seconds(1)
        try transactions.beginIfNeeded()
        #expect(transactions.isOpen && transactions.openSince == calls.now - .seconds(1))
        try transactions.sendOffsets(1, until: deadline)
        try transactions.commit(until: deadline)
        #expect(!transactions.isOpen && transactions.openSince == nil)
        try transactions.sendOffsets(2, until: deadline)
        #expect(transactions.isOpen)
        try transactions.commit(until: deadline)
        let first = ["initialize", "begin", "sendOffsets 1", "commit"]
        #expect(calls.made == first + ["begin", "sendOffsets 2", "commit"])
    }

    @Test("A retriable error is answered by the same call, until the deadline")
    func retries() throws {
        let transactions = KafkaTransactions(calls)
        try transactions.beginIfNeeded()
        calls.errors[.sendOffsets] = [Self.retriable, Self.retriable]
        try transactions.sendOffsets(1, until: deadline)
        #expect(calls.made == ["begin", "sendOffsets 1", "sendOffsets 1", "sendOffsets 1"])
        calls.errors[.commit] = Array(repeating: Self.retriable, count: 1_000)
        #expect(throws: KafkaTransactionFailure(error: Self.retriable, call: .commit, decision: .recreate)) {
            try transactions.commit(until: deadline)
        }
    }

    @Test("After a commit with unknown outcome, or a fatal error, nothing is aborted")
    func recreate() throws {
        for call in [KafkaTransactionCall.sendOffsets, .commit] {
            let transactions = KafkaTransactions(calls)
            try transactions.beginIfNeeded()
            calls.errors[call] = [Self.fatal]
            #expect(throws: KafkaTransactionFailure.self) {
                try transactions.sendOffsets(1, until: deadline)
                try transactions.commit(until: deadline)
            }
            #expect(!transactions.isOpen)
            try transactions.abort(until: deadline)
        }
        #expect(!calls.made.contains("abort"))
    }

    @Test("A transaction that the broker rejects is aborted once, and the next one begins")
    func abort() throws {
        let transactions = KafkaTransactions(calls)
        try transactions.beginIfNeeded()
        calls.errors[.commit] = [Self.aborting]
        #expect(throws: KafkaTransactionFailure(error: Self.aborting, call: .commit, decision: .abort)) {
            try transactions.commit(until: deadline)
        }
        #expect(transactions.isOpen)
        try transactions.abort(until: deadline)
        try transactions.abort(until: deadline)
        #expect(!transactions.isOpen && calls.made.count { $0 == "abort" } == 1)
        try transactions.beginIfNeeded()
        #expect(transactions.isOpen && calls.made.count { $0 == "begin" } == 2)
    }
}
