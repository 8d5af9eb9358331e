import Kafka
import NotificationConsumer
import NotificationModel

/// Calls to the broker, with their faults.
extension SimulatedLink {
    /// Sends a request to the broker.
    func ask<Answer>(
        _ call: LinkCall,
        within time: Duration,
        _ effect: () throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let fault = enter(call)
        try checkAlive()
        let wasAway = broker.isAway
        pass(random.number(200...4_000))
        try checkAlive()
        if case .fail(let error) = fault {
            producer.note(error)
            throw error
        }
        if broker.isAway {
            // The broker may have carried out the request before it became unavailable.
            if !wasAway, random.chance(500) { _ = try? effect() }
            try awaitBroker(call, within: time)
        }
        let answer = try effect()
        switch fault {
        case .crashAfter:
            process.crash()
        case .repeated:
            _ = try? effect()
        case .loseReply:
            pass(time.microseconds)
            onFault()
            try checkAlive()
            throw .noReply
        default: break
        }
        try checkAlive()
        return answer
    }

    private func awaitBroker(_ call: LinkCall, within time: Duration) throws(KafkaError) {
        pass(time.microseconds) { !broker.isAway }
        try checkAlive()
        guard !broker.isAway else { throw .noReply }
        let isForCoordinator = call != .bounds && call != .readState
        if isForCoordinator, random.chance(500) { throw .coordinatorLoading }
    }

    func checkAlive() throws(KafkaError) {
        guard !isDead else { throw .processEnded }
        guard !isClosed else { throw KafkaError(code: .destroyed, reason: "the link is closed (simulated)") }
    }
}

extension KafkaError {
    /// The error of every call of an ended process.
    static let processEnded = KafkaError(code: .destroyed, reason: "the process ended (simulated)", isFatal: true)
}
