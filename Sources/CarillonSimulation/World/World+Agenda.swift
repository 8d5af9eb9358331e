import NotificationModel

/// What is to happen before it is calm: scenes of the workload, and faults around them.
extension World {
    func prepareAgenda() {
        var at: Int64 = 3_000_000
        for _ in 0..<scenario.scenes {
            scene(at: at)
            at += gap()
        }
        sortAgenda()
    }

    /// Microseconds from one scene to the next.
    private func gap() -> Int64 {
        switch random.index(100) {
        case 0..<60: random.number(100_000...20_000_000)
        case 60..<85: random.number(20_000_000...300_000_000)
        case 85..<95: random.number(300_000_000...7_200_000_000)
        default:
            scenario.isLong ? random.number(86_400_000_000...60 * 86_400_000_000) : random.number(1...3_600_000_000)
        }
    }

    private func scene(at begin: Int64) {
        var at = begin
        for _ in 0..<random.number(1...8) {
            schedule(at: at) { [self] in workload.publish() }
            at += random.chance(700) ? random.number(0...20_000) : random.number(20_000...3_000_000)
        }
        let around = max(0, begin - 5_000_000)...(at + 30_000_000)
        add(scenario.crashRate, in: around) { [self] in random.pick(instances).process?.crash() }
        add(scenario.pauseRate, in: around) { [self] in pause(random.pick(instances)) }
        add(scenario.clockRate, in: around) { [self] in shift(random.pick(instances)) }
        add(scenario.restartRate, in: around) { [self] in restart(random.pick(instances)) }
        add(scenario.compactionRate, in: around) { [self] in compact() }
    }

    private func add(_ rate: Int, in range: ClosedRange<Int64>, _ action: @escaping () -> Void) {
        guard random.chance(rate) else { return }
        schedule(at: random.number(range)) { [self] in
            if violation == nil, !isCalm { action() }
        }
    }

    private func pause(_ instance: Instance) {
        guard let process = instance.process, !process.isDead, !process.isPaused else { return }
        let time = random.chance(500) ? random.number(100_000...9_000_000) : random.number(9_000_000...40_000_000)
        note(process.name, "stands still for \(time) us")
        process.pause(for: time)
        guard time > 12_000_000, random.chance(300) else { return }
        // Somebody starts another one in its place; the old one wakes up, and is ended soon.
        timeline.add(after: random.number(1_000_000...10_000_000)) { [self] in
            guard !process.isDead, instance.process === process else { return }
            instance.move()
            begin(instance)
        }
        timeline.add(after: time + random.number(100_000...5_000_000)) {
            if instance.process !== process { process.crash() }
        }
    }

    private func shift(_ instance: Instance) {
        let error = random.chance(700) ? random.number(-100...100) : random.number(-60_000...60_000)
        note("p\(instance.number)", "clock is \(error) ms ahead")
        instance.clock.set(error: error)
    }

    /// A deployment: it drains, ends, and another process begins.
    private func restart(_ instance: Instance) {
        guard let process = instance.process, !process.isDead else { return }
        note(process.name, "is asked to end")
        for runner in instance.runners { runner.stop() }
        awaitEnd(of: process, on: instance)
    }

    private func awaitEnd(of process: SimulatedProcess, on instance: Instance) {
        timeline.add(after: 200_000) { [self] in
            guard !process.isDead, instance.process === process, violation == nil else { return }
            guard instance.runners.allSatisfy(\.isOver) else { return awaitEnd(of: process, on: instance) }
            process.crash()
        }
    }

    private func compact() {
        for partition in 0..<scenario.partitions {
            let state = broker.log(topics.state, partition)
            let tail = state.end - random.number(0...20)
            broker.compact(topics.state, partition, tail: tail, .init())
            // Unread requests are protected by the lag.
            let requests = broker.log(topics.requests, partition)
            broker.compact(topics.requests, partition, tail: requests.end, .init(compactionLag: 7 * 86_400_000))
        }
        note("broker", "compacts")
    }
}
