import Foundation
import Kafka
import Logging
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Synchronization
import TestSupport

@testable import NotificationConsumer

/// Lanes one after the other, as `ConsumerService` runs them, over links with faults.
final class TestLanes: Sendable {
    let status = LaneStatus()
    let health = Health()
    private let kafka: FaultBroker
    private let guarantee: DeliveryGuarantee
    private let stores: any EntryStores
    private let stop = StopSignal()
    private let before: @Sendable (CheckpointStep) -> Void
    private let failures = Mutex<[any Error]>([])

    init(
        _ kafka: FaultBroker,
        _ guarantee: DeliveryGuarantee,
        stores: any EntryStores = MemoryEntryStores(),
        before: @escaping @Sendable (CheckpointStep) -> Void = { _ in }
    ) {
        (self.kafka, self.guarantee, self.stores, self.before) = (kafka, guarantee, stores, before)
    }

    /// Why lanes ended.
    var ends: [any Error] { failures.withLock { $0 } }

    /// Runs while the body runs.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await KafkaThread.run(name: "lane") { [self] in try work() } }
            do {
                try await body()
                stop.request()
            } catch {
                stop.request()
                throw error
            }
            try await group.waitForAll()
        }
    }

    private func work() throws {
        let health = health.component("lane")
        while !stop.isRequested {
            var configuration = kafka.configuration
            configuration.lane.start = .earliest
            guard
                let link = try KafkaLink(
                    configuration: configuration,
                    guarantee: guarantee,
                    lane: 0,
                    stop: stop,
                    health: health,
                    logger: quiet
                )
            else { return }
            let context = LaneContext(
                configuration: configuration,
                guarantee: guarantee,
                stores: stores,
                clock: SystemClock.now,
                zones: zones,
                newLineage: { UUID().uuidString },
                status: status,
                health: health,
                metrics: LaneMetrics(factory: PrometheusRegistry()),
                logger: quiet
            )
            let lane = Lane(context: context, link: FaultyLink(link, before: before))
            do {
                try lane.start()
                while !stop.isRequested { try lane.turn() }
                lane.drain()
                lane.close()
            } catch {
                lane.close(after: error)
                failures.withLock { $0.append(error) }
            }
        }
    }
}

extension Lane {
    /// A lane over a link, on its clock.
    static func over(
        _ link: Link,
        _ guarantee: DeliveryGuarantee,
        configuration: ConsumerServiceConfiguration = .init(bootstrapServers: []),
        channel: (any DeliveryChannel)? = nil,
        enrichment: (any EnrichmentWorker)? = nil,
        health: Health = Health(),
        registry: PrometheusRegistry = PrometheusRegistry(),
        zones: TimeZones = zones,
        fenced: String? = nil,
        logger: Logger = quiet
    ) -> Lane {
        let began = link.now
        var configuration = configuration
        if let channel { configuration.channel = channel.name }
        let context = LaneContext(
            configuration: configuration,
            guarantee: guarantee,
            stores: MemoryEntryStores(),
            channels: channel.map { [$0] } ?? [],
            enrichment: enrichment,
            clock: { at((link.now - began).milliseconds) },
            zones: zones,
            newLineage: { "test" },
            status: LaneStatus(),
            health: health.component("lane"),
            metrics: LaneMetrics(factory: registry),
            logger: logger,
            fenced: fenced
        )
        return Lane(context: context, link: link)
    }
}
