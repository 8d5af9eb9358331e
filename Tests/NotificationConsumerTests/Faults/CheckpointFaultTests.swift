import Foundation
import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationConsumer

/// A broker that fails in the middle of a checkpoint: at no step is anything lost.
@Suite(.timeLimit(.minutes(10)))
struct CheckpointFaultTests {
    /// A fault, and its step.
    struct Case: Sendable, CustomTestStringConvertible {
        enum Fault: String, Sendable, CaseIterable {
            /// Connections break, and no new ones are accepted for a while.
            case brokerAway
            /// The broker rejects the next writes with a permanent error.
            case recordsRefused
            /// The request takes effect, and its answer is lost.
            case replyLost
        }

        var guarantee: DeliveryGuarantee
        var step: CheckpointStep
        var fault: Fault
        var testDescription: String { "\(guarantee.rawValue): \(fault.rawValue) at \(step.rawValue)" }

        static func all(_ guarantee: DeliveryGuarantee) -> [Case] {
            let cases = CheckpointStep.allCases.flatMap { step in
                Fault.allCases.map { Case(guarantee: guarantee, step: step, fault: $0) }
            }
            return cases.filter(\.isPossible)
        }

        /// The embedded broker shows aborted records, even a marker whose events it rejected: the next owner uses it.
        var showsLoss: Bool { guarantee == .atLeastOnce || fault != .recordsRefused }

        private var isPossible: Bool {
            switch (guarantee, step, fault) {
            case (.atLeastOnce, .commit, _): false
            case (_, .offsets, .recordsRefused), (_, .commit, .recordsRefused): false
            case (_, .event, .replyLost), (_, .entry, .replyLost), (_, .offsets, .replyLost): false
            default: true
            }
        }

        /// The request of the step.
        var request: LocalBroker.RequestKind {
            switch step {
            case .event, .entry, .marker: .produce
            case .offsets: guarantee == .exactlyOnce ? .transactionOffsetCommit : .offsetCommit
            case .commit: .endTransaction
            }
        }

        func happen(to broker: LocalBroker) {
            switch fault {
            case .brokerAway:
                try? broker.setBroker(isUp: false)
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 1)
                    try? broker.setBroker(isUp: true)
                }
            case .recordsRefused: broker.inject(errors: [.topicAuthorizationFailed], on: request)
            case .replyLost: try? broker.loseReply(of: request)
            }
        }
    }

    /// The embedded broker also shows aborted records, so repeats are possible with transactions, too.
    @Test(
        "Nothing is lost, and repeats have the same id",
        arguments: Case.all(.atLeastOnce) + Case.all(.exactlyOnce)
    )
    func fault(_ one: Case) async throws {
        let kafka = try FaultBroker()
        let broker = kafka.broker
        let happened = Atomic<Bool>(false)
        let events = Atomic<Int>(0)
        let lanes = TestLanes(kafka, one.guarantee) { step in
            if step == .event { events.add(1, ordering: .relaxed) }
            // In the middle of the work, not at its start.
            guard step == one.step, events.load(ordering: .relaxed) > 50 else { return }
            guard !happened.exchange(true, ordering: .relaxed) else { return }
            one.happen(to: broker)
        }
        try await kafka.publish((0..<300).map { kafka.request("q\($0)", interval: $0 % 3 == 0 ? 86_400 : nil) })
        let seen = Mutex("")
        try await lanes.run {
            try await eventually("the fault happens") {
                happened.load(ordering: .relaxed) && (one.fault != .recordsRefused || !lanes.ends.isEmpty)
            }
            // The fault may affect the last checkpoint; the lane does not end in the middle of it.
            try await kafka.publish([kafka.request("last")])
            try await eventually("all are delivered or kept", orSay: { "\(seen.withLock(\.self)) \(lanes.ends)" }) {
                let delivered = try await Set(kafka.events(.delivered).map(\.request))
                guard one.showsLoss else { return delivered.contains(id("last")) }
                let scheduled = try await Set(kafka.events(.scheduled).map(\.request))
                let pending = try await kafka.pendingInState()
                seen.withLock { $0 = "\(delivered.count) delivered, \(scheduled.count) scheduled, \(pending) pending" }
                return delivered.count == 201 && scheduled.count == 100 && pending == 100
            }
        }
        for name in [DeliveryEventName.delivered, .scheduled] {
            let ids = try await Dictionary(grouping: kafka.events(name), by: \.request)
            #expect(ids.values.allSatisfy { Set($0.map(\.id)).count == 1 })
        }
        if one.fault == .recordsRefused {
            #expect(lanes.ends.count == 1, "a lane that cannot write begins again: \(lanes.ends)")
        }
        guard one.showsLoss else { return await broker.shutDown() }
        // The state for the next owner.
        #expect(try await kafka.pendingInState() == 100)
        let next = TestLanes(kafka, one.guarantee) { _ in }
        let before = try await kafka.eventIDs()
        try await next.run {
            try await eventually("what is pending is taken over") { next.status.snapshot.pending == 100 }
        }
        // If the first had no time for its last checkpoint, its work is repeated: with the same ids.
        #expect(try await kafka.eventIDs() == before)
        await broker.shutDown()
    }

    @Test func `a commit with an unknown outcome restarts the lane, and nothing is lost`() async throws {
        let kafka = try FaultBroker()
        let broker = kafka.broker
        let commits = Atomic<Int>(0)
        let lanes = TestLanes(kafka, .exactlyOnce) { step in
            guard step == .commit, commits.add(1, ordering: .relaxed).newValue == 3 else { return }
            // The broker answers that the producer is fenced; whether it committed before is unknown.
            broker.inject(errors: [.init(rawValue: 90)], on: .endTransaction)
        }
        try await lanes.run {
            for batch in 0..<4 {
                try await kafka.publish((0..<50).map { kafka.request("b\(batch)-\($0)") })
                try await eventually("batch \(batch) is delivered", orSay: { "\(lanes.ends)" }) {
                    try await Set(kafka.events(.delivered).map(\.request)).count >= 50 * (batch + 1)
                }
            }
            try await eventually("the commit fails", orSay: { "\(lanes.ends)" }) { lanes.ends.count == 1 }
            try await kafka.publish([kafka.request("last")])
            try await eventually("it goes on", orSay: { "\(lanes.ends)" }) {
                try await Set(kafka.events(.delivered).map(\.request)).count == 201
            }
        }
        let failure = try #require(lanes.ends.first as? KafkaTransactionFailure)
        #expect(failure.call == .commit && failure.decision == .recreate)
        #expect(try await Set(kafka.events(.delivered).map(\.id)).count == 201)
        await broker.shutDown()
    }
}
