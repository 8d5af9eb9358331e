import Kafka
import Logging
import Testing
import TestSupport

@testable import ServiceSupport

@Suite("Supervision of workers")
struct SupervisorTests {
    private struct Failure: Error {}
    private struct Refusal: Error {}

    private let stop = StopSignal()
    private let component = Health().component("worker")
    private func supervisor() -> Supervisor {
        .init(
            .init(name: "worker", restartsFrom: "the beginning"),
            stop: stop,
            health: component,
            logger: quiet,
            firstPause: .milliseconds(1)
        )
    }

    @Test("the pause doubles up to half a minute, and is short again for a worker that worked")
    func pause() {
        var pause = RestartPause()
        let pauses = (0..<7).map { _ in pause.noteFailure(after: .seconds(1)) }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        pause.noteWork()
        #expect(pause.noteFailure(after: .seconds(1)) == .seconds(1))
        #expect(pause.noteFailure(after: .seconds(61)) == .seconds(1))
        #expect(pause.noteFailure(after: .seconds(60)) == .seconds(2))
    }

    @Test("a worker that fails is followed by another until the stop")
    func restarts() throws {
        var (supervisor, runs, restarts) = (supervisor(), 0, 0)
        try supervisor.run(
            { _, _ in
                runs += 1
                guard runs < 4 else { return stop.request() }
                throw Failure()
            },
            fencing: { _ in nil },
            onRestart: {
                restarts += 1
                #expect(runs == restarts)
            }
        )
        #expect(runs == 4 && restarts == 3)
        guard case .notReady(let reason) = component.status else {
            Issue.record("ready after a failure")
            return
        }
        #expect(reason.hasPrefix("worker failed and starts again"))
    }

    @Test("a final error ends it, and stops the others")
    func final() {
        var (supervisor, runs) = (supervisor(), 0)
        #expect(throws: Refusal.self) {
            try supervisor.run(
                { _, _ in
                    runs += 1
                    throw Refusal()
                },
                isFinal: { $0 is Refusal },
                fencing: { _ in nil },
                onRestart: { Issue.record("it is not restarted") }
            )
        }
        #expect(runs == 1 && stop.isRequested)
    }

    @Test("a fenced worker's reason goes to the next ones until one works")
    func fenced() throws {
        var (supervisor, reasons) = (supervisor(), [String?]())
        let fencing = InstanceFencedError(instanceID: "a", name: "t-a", cause: Failure())
        try supervisor.run(
            { fenced, hasWorked in
                reasons.append(fenced)
                switch reasons.count {
                case 1: throw fencing
                case 2: throw Failure()
                case 3:
                    hasWorked()
                    throw Failure()
                default: stop.request()
                }
            },
            fencing: { $0 as? InstanceFencedError },
            onRestart: {}
        )
        #expect(reasons == [nil, fencing.description, fencing.description, nil])
    }

    @Test("a worker is supervised while it works, and one that only waited for the broker no longer than that")
    func supervised() throws {
        let health = Health(stallTimeout: .zero)
        let (worker, cluster) = (health.component("worker"), health.component("cluster"))
        #expect(try BrokerWait(health: cluster, stop: stop, logger: quiet).until { health.notLive.count } == 1)
        #expect(health.notLive.isEmpty)
        var supervisor = Supervisor(.init(name: "w", restartsFrom: "x"), stop: stop, health: worker, logger: quiet)
        try supervisor.run(
            { _, _ in
                _ = try BrokerWait(health: worker, stop: stop, logger: quiet).until {}
                #expect(health.notLive.map(\.component) == ["worker"])
                stop.request()
            },
            fencing: { _ in nil },
            onRestart: {}
        )
        #expect(health.notLive.isEmpty)
    }

    @Test("the broker is asked until it answers; a permanent error ends it")
    func brokerWait() throws {
        var (asked, pauses) = (0, 0)
        let wait = BrokerWait(health: component, stop: stop, logger: quiet) { pauses += 1 }
        let answer = try wait.until {
            asked += 1
            guard asked == 3 else { throw KafkaError(code: .timedOut, reason: "no answer", isRetriable: true) }
            return 7
        }
        #expect(answer == 7 && pauses == 2)
        let error = KafkaError(code: .timedOut, reason: "no answer", isRetriable: true)
        #expect(component.status == .notReady("waiting for the broker: \(error)"))
        #expect(throws: KafkaError.self) {
            try wait.until { throw KafkaError(code: .fenced, reason: "fenced", isFatal: true) }
        }
        #expect(throws: Failure.self) { try wait.until { throw Failure() } }
        stop.request()
        #expect(try wait.until { 7 } == nil)
    }
}
