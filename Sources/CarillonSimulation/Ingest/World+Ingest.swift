import NotificationModel
import NotificationState

/// The processes of the ingest in a world.
extension World {
    /// Adds business events, and the ingest that converts them to requests.
    func addIngest(random: SeededGenerator) {
        do {
            let stage = try IngestStage(of: self, random: random)
            ingest = stage
            requests.onForeign = { record, partition throws(Violation) in
                try stage.checks.request(record, in: partition)
            }
            observer.onEventLetter = { record, place, reason throws(Violation) in
                try stage.checks.take(letter: record, place, reason)
            }
            disturb()
        } catch {
            fail(Violation(.events, "the rules are wrong: \(error)"))
        }
    }

    /// Starts a process of the producer service, and another one whenever it ends.
    func begin(ingest machine: Instance) {
        guard violation == nil, !machine.isDown, let ingest else { return }
        machine.begin(on: timeline) { process in
            note(process.name, "starts")
            process.observe(
                pause: {},
                death: { [unowned self, unowned machine] in
                    note(process.name, "ends")
                    guard violation == nil else { return }
                    timeline.add(after: ingest.random.number(500_000...SeededRun.longestRestart)) { [unowned self] in
                        if machine.process === process { begin(ingest: machine) }
                    }
                }
            )
            return ([], [ingest.runner(on: machine, process)])
        }
    }

    /// A link for a new session.
    func makeIngestLink(
        _ process: SimulatedProcess,
        transactionalID: String,
        group: GroupCoordinator,
        random: inout SeededGenerator
    ) -> SimulatedLink {
        var faults = FaultPlan(random: random.split())
        if !isCalm {
            faults.rate = scenario.faultRate
            if random.chance(scenario.crashRate) { faults.callsToCrash = Int(random.number(1...600)) }
        }
        let link = SimulatedLink(
            name: process.name,
            configuration: .init(
                topics: SimulatedIngestLink.topics(topics),
                inputs: [.requests],
                transactionalID: options.isExactlyOnce ? transactionalID : nil,
                // The ingest has no such check: its records and offsets are fenced, or repeats are recognized.
                noticesSuspension: false,
                bugs: SimulatedIngestLink.bugsBelow(options.bugs)
            ),
            broker: broker,
            group: group,
            process: process,
            faults: faults,
            random: random.split(),
            note: { [unowned self] in note(process.name, $0) }
        )
        add(link)
        return link
    }
}
