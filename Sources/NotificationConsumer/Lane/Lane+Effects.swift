import Kafka
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// What turns lead to.
extension Lane {
    /// Performs the effects of turns of a partition: publishes events, begins sends, and charges the next checkpoint with what
    /// they change.
    func carryOut(of number: Int32, at now: Timestamp) throws {
        if let partition = owned[number] { try carryOut(of: partition, number, at: now) }
    }

    /// - Parameter written: the timestamp of the request that was applied.
    func carryOut(of partition: OwnedPartition, _ number: Int32, at now: Timestamp, written: Int64? = nil) throws {
        ledger.budget.expect(partition.center.takeCharge())
        partition.center.exchangeEffects(with: &effects)
        // Taken from the end, so that each moves.
        if effects.count > 1 { effects.reverse() }
        while let effect = effects.popLast() {
            switch consume effect {
            case .publish(var event, var trace):
                try usingStore { try partition.center.count(&event) }
                try transactions?.beginIfNeeded()
                if let spans { trace = spans.send(event.eventID, event.name.type, to: .deliveries, trace) }
                if try !emission.publish(event, trace, at: now) { context.metrics.countShortened() }
                context.metrics.count(event.name, closes: event.closes)
                if event.name == .delivered, let written, context.metrics.wantsLatency {
                    context.metrics.record(latencyOfEvent: now.rawValue - written)
                }
            case .respond(let event, var trace):
                try transactions?.beginIfNeeded()
                if let spans { trace = spans.send(event, trace) }
                if try !emission.publish(event, trace, at: now) { context.metrics.countShortened() }
                context.metrics.countResponse()
            case .announce(let event, var trace):
                try transactions?.beginIfNeeded()
                if let spans { trace = spans.send(event.eventID, event.name.type, to: .deliveries, trace) }
                try emission.publish(event, trace, at: now)
            case .claim(let claim, let token, let trace):
                try transactions?.beginIfNeeded()
                try emission.publish(claim, token: token, trace)
            case .signal(let signal, let recipient, var trace):
                try transactions?.beginIfNeeded()
                if let spans { trace = spans.send(signal, to: recipient, trace) }
                try emission.publish(signal, to: recipient, trace, at: now)
            case .fire(let firing): spans?.fire(firing)
            case .answer(let delivery): spans?.answer(delivery)
            case .send(let attempt): send(attempt, of: number)
            case .enrich(let work): enrich(work, of: number, at: now)
            case .stopEnrichment(let id, let key): cancelEnrichments { $0.work.key == key && $0.work.requestID == id }
            case .withdraw(let id, let key): sends.withdraw(id, of: key)
            }
        }
        countTurns(of: partition)
    }

    /// Takes over what the turns of a partition have counted.
    private func countTurns(of partition: OwnedPartition) {
        let (unknown, digests) = (partition.center.unknownCategories, partition.center.begunDigests)
        guard unknown > 0 || digests > 0 else { return }
        (partition.center.unknownCategories, partition.center.begunDigests) = (0, 0)
        context.metrics.count(unknownCategories: unknown)
        // A digest is a request of its own, which the service makes.
        context.metrics.count(requested: digests)
    }
}
