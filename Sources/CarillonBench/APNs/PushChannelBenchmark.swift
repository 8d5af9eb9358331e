import NotificationDelivery

/// The channel `apns` in this process, which does nothing else, and a push server in another one.
struct PushChannelBenchmark {
    struct Result {
        var perSecond: Double
        /// User and system time of this process for each push.
        var cpuMicroseconds: Double
        /// Cores that it kept busy.
        var cores: Double { perSecond * cpuMicroseconds / 1e6 }
    }

    var connections: Int
    /// Pushes that are under way at one time.
    var atOnce: Int
    /// Seconds until connections are open, and of the measurement.
    var warmUp: Double
    var seconds: Double
    var workbench: Workbench

    /// Prepared sends, which come again: the server does not remember their ids.
    private static let prepared = 50_000

    /// - Throws: ``BenchmarkError`` when a push is not accepted, or the server has counted another number.
    func run(_ server: PushServer) throws -> Result {
        let before = try server.accepted()
        let sends = try (0..<Self.prepared).map { try PushWorkload.send($0, token: PushWorkload.token($0)) }
        let desk = try PushDesk(
            applications: server.applications(),
            authority: server.places.authority,
            ports: (server.places.production, server.places.development),
            connections: connections,
            atOnce: atOnce,
            on: workbench
        )
        try send(sends, over: desk, for: warmUp)
        let (first, cpu, begin) = (desk.accepted, try ProcessSample.own().cpuSeconds, ContinuousClock.now)
        try send(sends, over: desk, for: seconds)
        let (last, used, time) = (desk.accepted, try ProcessSample.own().cpuSeconds - cpu, ContinuousClock.now - begin)
        try desk.requireAll()
        try desk.close()
        let arrived = try server.accepted() - before
        guard arrived == desk.ended else { throw BenchmarkError("APNs accepted \(arrived) pushes of \(desk.ended)") }
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
