import NotificationModel
import Testing

@testable import NotificationConsumer

/// The record of a recipient has to fit a record of `state`, whatever is asked for.
@Suite("The size of a recipient's record")
struct RecipientBoundTests {
    private static let contentBytes = 16_384

    private static var rules: LifecycleRules {
        var rules = LifecycleRules(retention: 7 * 24 * 3_600_000)
        rules.contentBytes = contentBytes
        rules.maximumDevices = 1000
        return rules
    }

    private static func limited(_ name: String, by limits: DeliveryLimits?, _ content: String) -> CenterInput {
        guard case .request(var input) = DeviceTests.request(name, content, key(name)) else { return removal(name) }
        input.limits = limits
        return .request(input)
    }

    private static func size(_ bench: inout Bench) -> Int { bench.recipient(key(""))?.json.count ?? 0 }

    @Test func `with too many digests at once, notifications are sent by themselves`() throws {
        var bench = Bench(Self.rules)
        let digest = DigestPolicy(by: .thread, window: 60_000)
        var names: [DeliveryEventName: Int] = [:]
        for number in 0..<400 {
            let content = #"{"title":"T","threadIdentifier":"thread-\#(number)"}"#
            let limits = DeliveryLimits(quietHours: nil, cap: nil, digest: digest)
            for event in bench.apply(Self.limited("q\(number)", by: limits, content)) {
                names[event.name, default: 0] += 1
            }
        }
        #expect(names[.held] ?? 0 > 10 && names[.delivered] ?? 0 > 10 && names.values.reduce(0, +) == 400)
        #expect(Self.size(&bench) < Self.contentBytes)
        let ends = bench.fire(60_000)
        #expect(ends.filter(\.closes).count == names[.held])
    }

    @Test func `the counts of the categories used last are kept`() throws {
        var bench = Bench(Self.rules)
        for number in 0..<2000 {
            let content = #"{"title":"T","categoryIdentifier":"C\#(number / 100)"}"#
            let cap = DeliveryCap(count: 100, period: 3_600_000)
            let events = bench.apply(
                Self.limited("q\(number)", by: DeliveryLimits(quietHours: nil, cap: cap, digest: nil), content)
            )
            #expect(events.summary == ["delivered q\(number)!"])
        }
        #expect(Self.size(&bench) < Self.contentBytes)
        let found = bench.recipient(key(""))
        let last = try #require(found?.capped.last)
        #expect(last.category == "C19" && last.times == Array(repeating: at(0), count: 100))
    }

    @Test func `devices with long tokens make room for the newest`() throws {
        var bench = Bench(Self.rules)
        for number in 0..<30 {
            var registration = try DeviceRegistration(
                platform: "web",
                token: String(repeating: "t", count: 1000) + "\(number)"
            )
            registration.registeredAt = at(Int64(number))
            bench.apply(
                .registration(
                    .init(
                        key: key("phone\(number)"),
                        registration: registration,
                        position: .init(.devices, offset: 0),
                        trace: .none,
                        timestamp: at(Int64(number))
                    )
                )
            )
        }
        #expect(Self.size(&bench) < Self.contentBytes)
        let kept = bench.recipient(key(""))?.registrations.map(\.name) ?? []
        #expect(kept.count >= 3 && kept.last == "phone29")
        #expect(bench.devices.filter { $0.name == .retired && $0.reason == .capped }.count == 30 - kept.count)
    }

    @Test func `a device that alone is too large is refused, and nothing changes`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        let token = String(repeating: "t", count: 4096)
        var registration = try DeviceRegistration(platform: "web", token: token)
        registration.registeredAt = at(1)
        bench.apply(
            .registration(
                .init(
                    key: key("browser"),
                    registration: registration,
                    position: .init(.devices, offset: 0),
                    trace: .none,
                    timestamp: at(1)
                )
            )
        )
        guard case .refused(let error)? = bench.outcomes.last else {
            Issue.record("\(bench.outcomes)")
            return
        }
        #expect(error.reason == .tooLarge && !error.detail.contains(token))
        #expect(bench.recipient(key(""))?.registrations.map(\.name) == ["phone"])
    }
}
