import Foundation
import Testing

/// The bound on a thread's silence is small here; on a slow cluster a wait for the broker may exceed it.
@Suite("Liveness of healthy services", .disabled(if: Cluster.isReal, "a wait for the cluster may exceed the bound"))
struct LivenessTests {
    private static let bound = 5

    @Test("both services stay live for longer than the bound, idle and under load")
    func live() async throws {
        let cluster = try await Cluster.start()
        do {
            try await watch(cluster)
        } catch {
            try? await cluster.stop()
            throw error
        }
        try await cluster.stop()
    }

    private func watch(_ cluster: Cluster) async throws {
        var settings = ServiceProcess.settings(cluster, deployment: "liveness")
        settings["CARILLON_PROCESS_STALL_TIMEOUT"] = "\(Self.bound)s"
        let services = [
            try ServiceProcess.producer(settings, deployment: cluster.prefix),
            try ServiceProcess.consumer(settings, deployment: cluster.prefix),
        ]
        for service in services { try await service.ready() }
        try await remainLive(services)
        let clients = RequestClients(cluster)
        try clients.beginLoad()
        try await clients.load(reaches: 100)
        try await remainLive(services)
        try await clients.load(reaches: 100)
        try await clients.endLoad()
        await clients.end()
        for service in services { await service.child.end() }
    }

    /// What happened before counts too: a thread that stalled at the start is found within one more bound.
    private func remainLive(_ services: [ServiceProcess]) async throws {
        let end = ContinuousClock.now + .seconds(Self.bound + 2)
        while ContinuousClock.now < end {
            for service in services {
                let answer = try await service.health("live")
                #expect(answer.status == 200, "\(service.child.name): \(answer.text)")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
