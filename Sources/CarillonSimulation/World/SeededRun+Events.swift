/// Business events and faults of the ingest, around the scenes of the workload.
extension SeededRun {
    func prepareEvents(until end: Int64) {
        guard let ingest = world.ingest else { return }
        for machine in ingest.machines {
            world.timeline.add(after: ingest.random.number(0...5_000_000)) { [self] in world.begin(ingest: machine) }
        }
        for _ in 0..<ingest.random.number(3...12) {
            var at = ingest.random.number(0...end)
            for _ in 0..<ingest.random.number(1...12) {
                schedule(at: at) { ingest.log.publish() }
                at +=
                    ingest.random.chance(700)
                    ? ingest.random.number(0...20_000) : ingest.random.number(20_000...3_000_000)
            }
            let around = max(0, at - 10_000_000)...(at + 10_000_000)
            disturb(ingest, world.scenario.crashRate, in: around) { $0.process?.crash() }
            disturb(ingest, world.scenario.pauseRate, in: around) { [self] in pause($0, of: ingest) }
            disturb(ingest, world.scenario.restartRate, in: around) { [self] machine in
                guard let process = machine.process, !process.isDead else { return }
                world.note(process.name, "gets a request to shut down")
                for runner in machine.runners { runner.stop() }
                awaitEnd(of: process, on: machine)
            }
            disturb(ingest, world.scenario.coordinatorLossRate, in: around) { [self] machine in
                guard let process = machine.process, !process.isDead else { return }
                world.cutOff(process, for: ingest.random.number(100_000...40_000_000))
            }
        }
    }

    private func disturb(
        _ ingest: IngestStage,
        _ rate: Int,
        in range: ClosedRange<Int64>,
        _ action: @escaping (Instance) -> Void
    ) {
        guard ingest.random.chance(rate) else { return }
        schedule(at: ingest.random.number(range)) { [self] in
            if world.violation == nil, !world.isCalm { action(ingest.random.pick(ingest.machines)) }
        }
    }

    /// Pauses a process, in half of the cases for longer than a session; another process may replace it meanwhile.
    private func pause(_ machine: Instance, of ingest: IngestStage) {
        guard let process = machine.process, !process.isDead, !process.isPaused else { return }
        let isLong = ingest.random.chance(500)
        let time = ingest.random.number(isLong ? 9_000_000...40_000_000 : 100_000...9_000_000)
        world.note(process.name, "is paused for \(time) us")
        process.pause(for: time)
        guard isLong, ingest.random.chance(300) else { return }
        world.timeline.add(after: ingest.random.number(1_000_000...9_000_000)) { [self] in
            if !process.isDead, machine.process === process { world.begin(ingest: machine) }
        }
        world.timeline.add(after: time + ingest.random.number(100_000...5_000_000)) {
            if machine.process !== process { process.crash() }
        }
    }
}
