import Foundation
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// What a record costs from its intake to the bytes of its event, in objects and counted references: they do not depend on the
/// machine, but on the optimizer. The pointers of the runtime are those of the whole process: no other test may run beside these.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["COUNT_COSTS"] == "1", "deploy/test runs it by itself")
)
struct CostTests {
    /// The largest counts for a notification that nothing holds, limits, groups or enriches.
    private static let plain = (allocations: 3.0, retains: 80.0)
    private static let usual =
        #""title":"On its way","subtitle":"Order 4711","body":"Your order has shipped and arrives tomorrow.","#
        + #""badge":3,"sound":"bell.caf","userInfo":{"order":"4711","shop":"Berlin"}"#

    private let intake = Intake(
        requests: RequestIntake(topic: "requests", zones: zones, partition: { _ in 0 }),
        signals: SignalIntake(application: "shop", partition: { _ in 0 }),
        devices: DeviceIntake(zones: zones, partition: { _ in 0 })
    )

    /// - Returns: for each record after the first ones, whose memory grows.
    private func cost(
        _ members: String,
        _ rules: LifecycleRules? = nil
    ) throws -> (allocations: Double, retains: Double)? {
        var bench = Bench(rules)
        var effects: [Effect] = []
        var out: [UInt8] = []
        out.reserveCapacity(4096)
        let records = (0..<512).map { number in
            Intake.Record(
                .requests,
                partition: 0,
                offset: Int64(number),
                timestamp: at(0).rawValue,
                key: key("order", recipient: "r\(number)").encoded,
                value: Array(
                    #"{"requestId":"01890a5d-ac96-774b-bcce-b302099a\#(1000 + number)","content":{\#(members)}}"#.utf8
                ),
                trace: .none
            )
        }
        var events = 0
        func run(_ records: ArraySlice<Intake.Record>) throws {
            for record in records {
                let input = try intake.input(from: record, life: 0, at: at(0))
                _ = try bench.center.apply(input, at: at(0))
                bench.center.exchangeEffects(with: &effects)
                while let effect = effects.popLast() {
                    switch consume effect {
                    case .publish(var event, _):
                        try bench.center.count(&event)
                        out.removeAll(keepingCapacity: true)
                        event.write(to: &out)
                        events += 1
                    default: break
                    }
                }
            }
        }
        try run(records[..<256])
        let counts = try RuntimeCounts.of { try run(records[256...]) }
        #expect(events == records.count)
        return counts.map { (Double($0.allocations) / 256, Double($0.retains) / 256) }
    }

    @Test("a notification that uses none of what can be asked for")
    func plain() throws {
        let cost = try #require(try cost(Self.usual))
        #expect(cost.allocations <= Self.plain.allocations && cost.retains <= Self.plain.retains, "\(cost)")
    }

    @Test("what another notification could use costs it nothing: channels to devices, a category, limits, enrichment")
    func unused() throws {
        let channels = ChannelRules(.events, and: [.events, .webhook, .apns, .devices])
        let all = try #require(try cost(Self.usual, LifecycleRules(retention: 86_400_000, channels: channels)))
        let plain = try #require(try cost(Self.usual))
        #expect(all.allocations <= plain.allocations && all.retains <= plain.retains, "\(all), \(plain)")
    }

    @Test("a thread is counted, and a category is looked up")
    func grouped() throws {
        let cost = try #require(try cost(Self.usual + #","categoryIdentifier":"ORDER","threadIdentifier":"orders""#))
        #expect(cost.allocations <= Self.plain.allocations + 3 && cost.retains <= Self.plain.retains + 20, "\(cost)")
    }
}
