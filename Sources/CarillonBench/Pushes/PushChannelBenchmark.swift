import NotificationDelivery

/// A channel in this process, which does nothing else, and a server in another one.
struct PushChannelBenchmark {
    struct Result {
        var perSecond: Double
        /// User and system time of this process for each push.
        var cpuMicroseconds: Double
        /// Cores that it kept busy.
        var cores: Double { perSecond * cpuMicroseconds / 1e6 }

        var figures: [Figure] {
            PushRounds.figures(perSecond, cpuMicroseconds) + [Figure("cores", "cores", cores)]
        }
    }

    var connections: Int
    /// Pushes that are under way at one time.
    var atOnce: Int
    /// Seconds until connections are open, and of the measurement.
    var warmUp: Double
    var seconds: Double
    /// Prepared sends, which come again: the server does not remember their ids.
    private static let prepared = 50_000

    /// - Throws: ``BenchmarkError`` when a push is not accepted, or the server has counted another number.
    func run(_ target: some PushTarget) throws -> Result {
        let before = try target.accepted()
        let sends = try (0..<Self.prepared).map { try target.send($0) }
        let desk = PushDesk(try target.channel(connections: connections), atOnce: atOnce)
        try send(sends, over: desk, for: warmUp)
        let (first, cpu, begin) = (desk.accepted, try ProcessSample.own().cpuSeconds, ContinuousClock.now)
        try send(sends, over: desk, for: seconds)
        let (last, used, time) = (desk.accepted, try ProcessSample.own().cpuSeconds - cpu, ContinuousClock.now - begin)
        try desk.requireAll()
        try desk.close()
        let arrived = try target.accepted() - before
        guard arrived == desk.ended else {
            throw BenchmarkError("\(target.name) accepted \(arrived) pushes of \(desk.ended)")
        }
        guard last > first else { throw BenchmarkError("no push was accepted within \(seconds) s") }
        let measured = Double(last - first)
        return Result(perSecond: measured / (time / .seconds(1)), cpuMicroseconds: used / measured * 1e6)
    }

    private func send(_ sends: [Issued<ChannelSend>], over desk: PushDesk, for seconds: Double) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        try desk.wait {
            guard ContinuousClock.now < end else { return true }
            desk.fill { sends[$0 % sends.count] }
            return false
        }
    }
}
