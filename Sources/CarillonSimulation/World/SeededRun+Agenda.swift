import NotificationModel

/// The agenda until all faults end: scenes of the workload, and faults around them.
extension SeededRun {
    func prepareAgenda() {
        var at: Int64 = 3_000_000
        for _ in 0..<world.scenario.scenes {
            scene(at: at)
            at += gap()
        }
        if let growth = world.scenario.growth, world.scenario.growsWhileRunning {
            schedule(at: hazards.number(0...at)) { [self] in
                // Before the first markers lanes accept any number of partitions.
                if world.violation == nil, world.state.hasAllMarkers { grow(growth) }
            }
        }
        prepareEvents(until: at)
        sortAgenda()
    }

    /// Microseconds from one scene to the next.
    private func gap() -> Int64 {
        switch world.random.index(100) {
        case 0..<60: world.random.number(100_000...20_000_000)
        case 60..<85: world.random.number(20_000_000...300_000_000)
        case 85..<95: world.random.number(300_000_000...7_200_000_000)
        default:
            world.scenario.isLong
                ? world.random.number(86_400_000_000...60 * 86_400_000_000) : world.random.number(1...3_600_000_000)
        }
    }

    private func scene(at begin: Int64) {
        var at = begin
        for _ in 0..<world.random.number(1...8) {
            schedule(at: at) { [self] in workload.publish() }
            at += world.random.chance(700) ? world.random.number(0...20_000) : world.random.number(20_000...3_000_000)
        }
        let around = max(0, begin - 5_000_000)...(at + 30_000_000)
        add(world.scenario.crashRate, in: around) { [self] in world.random.pick(world.instances).process?.crash() }
        add(world.scenario.pauseRate, in: around) { [self] in pause(world.random.pick(world.instances)) }
        add(world.scenario.clockRate, in: around) { [self] in shift(world.random.pick(world.instances)) }
        add(world.scenario.restartRate, in: around) { [self] in restart(world.random.pick(world.instances)) }
        add(world.scenario.compactionRate, in: around) { [self] in compact() }
        guard hazards.chance(world.scenario.coordinatorLossRate) else { return }
        schedule(at: hazards.number(around)) { [self] in
            if world.violation == nil, !world.isCalm { cutOff(hazards.pick(world.instances)) }
        }
    }

    private func cutOff(_ instance: Instance) {
        guard let process = instance.process, !process.isDead else { return }
        let isLong = hazards.chance(500)
        world.cutOff(process, for: hazards.number(isLong ? 9_000_000...40_000_000 : 100_000...9_000_000))
    }

    private func add(_ rate: Int, in range: ClosedRange<Int64>, _ action: @escaping () -> Void) {
        guard world.random.chance(rate) else { return }
        schedule(at: world.random.number(range)) { [self] in
            if world.violation == nil, !world.isCalm { action() }
        }
    }

    private func pause(_ instance: Instance) {
        guard let process = instance.process, !process.isDead, !process.isPaused else { return }
        let time =
            world.random.chance(500)
            ? world.random.number(100_000...9_000_000) : world.random.number(9_000_000...40_000_000)
        world.note(process.name, "is paused for \(time) us")
        process.pause(for: time)
        // It may detect only afterwards that it has lost its partitions.
        world.disturb(for: time)
        guard time > 12_000_000, world.random.chance(300) else { return }
        // Another process replaces it; the old one continues after its pause, and ends soon after.
        world.timeline.add(after: world.random.number(1_000_000...10_000_000)) { [self] in
            guard !process.isDead, instance.process === process else { return }
            instance.move()
            world.begin(instance)
        }
        world.timeline.add(after: time + world.random.number(100_000...5_000_000)) {
            if instance.process !== process { process.crash() }
        }
    }

    private func shift(_ instance: Instance) {
        let error = world.random.chance(700) ? world.random.number(-100...100) : world.random.number(-60_000...60_000)
        world.note(instance.name, "clock is \(error) ms ahead")
        world.setClock(of: instance, error: error)
    }

    /// A deployment: the process shuts down, and another one starts.
    private func restart(_ instance: Instance) {
        guard let process = instance.process, !process.isDead else { return }
        world.note(process.name, "gets a request to shut down")
        for runner in instance.runners { runner.stop() }
        awaitEnd(of: process, on: instance)
    }

    func awaitEnd(of process: SimulatedProcess, on instance: Instance) {
        world.timeline.add(after: 200_000) { [self] in
            guard !process.isDead, instance.process === process, world.violation == nil else { return }
            guard instance.runners.allSatisfy(\.isOver) else { return awaitEnd(of: process, on: instance) }
            process.crash()
        }
    }

    private func compact() {
        for partition in 0..<world.scenario.partitions {
            let state = world.broker.log(world.topics.state, partition)
            let tail = state.end - world.random.number(0...20)
            world.broker.compact(world.topics.state, partition, tail: tail, .init())
            // Unread requests are protected by the lag.
            let requests = world.broker.log(world.topics.requests, partition)
            world.broker.compact(
                world.topics.requests,
                partition,
                tail: requests.end,
                .init(compactionLag: 7 * 86_400_000)
            )
        }
        world.note("broker", "compacts")
    }
}
