import APNsSimulator
import Foundation
import NotificationModel

/// Pushes while the server ends connections with GOAWAY again and again: what the devices show counts, not how fast.
struct GoAwayBenchmark {
    var pushes: Int
    var goAways: Int
    var workbench: Workbench

    /// Notifications of a device.
    private static let perDevice = 500

    struct Result: Equatable {
        /// That no device shows.
        var lost = 0
        /// That reached a device more than once.
        var twice = 0

        var row: FigureRow {
            FigureRow(
                "goaway",
                title: "over GOAWAYs",
                [
                    Figure("lost", "lost", Double(lost), as: .whole),
                    Figure("twice", "twice", Double(twice), as: .whole),
                ]
            )
        }
    }

    /// - Throws: ``BenchmarkError`` when a push is not accepted, or there were too few connections to end.
    func run() throws -> Result {
        workbench.report("\(pushes) pushes over \(goAways) GOAWAYs")
        var configuration = APNsSimulatorConfiguration(directory: workbench.place("apns").path)
        configuration.controlPort = nil
        // So that pushes are under way.
        configuration.behaviour.roundTrip = .milliseconds(10)
        let simulator = try BackgroundWork { [configuration] in try await APNsSimulator.start(configuration) }.value()
        defer { _ = try? BackgroundWork { await simulator.stop() }.value() }
        for number in stride(from: 0, to: pushes, by: Self.perDevice) {
            try simulator.register(token(number), device: device(number), topic: PushServer.bundle)
        }
        try send(to: simulator)
        return tally(simulator)
    }

    private func device(_ number: Int) -> String { "phone-\(number / Self.perDevice)" }

    private func token(_ number: Int) -> String { PushServer.token(number / Self.perDevice) }

    private func send(to simulator: APNsSimulator) throws {
        let file = workbench.place("applications.yaml")
        try PushServer.applications(key: simulator.keyFile ?? "").write(to: file, atomically: true, encoding: .utf8)
        let channel = try PushServer.channel(
            applications: file.path,
            authority: simulator.authorityFile,
            ports: (simulator.productionPort, simulator.developmentPort),
            connections: 4,
            on: workbench
        )
        let desk = PushDesk(channel, atOnce: 1_000, repeats: true)
        var sent = 0
        try desk.wait {
            try desk.fill { $0 < pushes ? try PushServer.send($0, token: token($0)) : nil }
            // Evenly over the pushes.
            if sent < goAways, desk.ended * (goAways + 1) >= (sent + 1) * pushes, try goAway(simulator) { sent += 1 }
            return desk.ended == pushes
        }
        try desk.requireAll()
        try desk.close()
        guard sent == goAways else {
            throw BenchmarkError("\(sent) of \(goAways) GOAWAYs were sent: use more pushes")
        }
    }

    /// Ends the connection that has the most pushes.
    private func goAway(_ simulator: APNsSimulator) throws -> Bool {
        try BackgroundWork {
            // One that has just begun may be the only one.
            guard let busiest = await simulator.connections.max(by: { $0.requests < $1.requests }),
                busiest.requests > 20
            else { return false }
            return await simulator.goAway(busiest.number)
        }.value()
    }

    private func tally(_ simulator: APNsSimulator) -> Result {
        var result = Result()
        for first in stride(from: 0, to: pushes, by: Self.perDevice) {
            let device = simulator.device(device(first))
            result.lost += min(Self.perDevice, pushes - first) - (device?.shown(by: PushServer.bundle).count ?? 0)
            result.twice += (device?.receivedCount ?? 0) - Set(device?.pushes.map(\.id) ?? []).count
        }
        return result
    }
}
