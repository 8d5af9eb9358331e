import Foundation
import NotificationModel
import NotificationState
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
        guard case .request(let input) = DeviceTests.request(name, content, key(name)) else { return removal(name) }
        return .request(input.with(limits: limits))
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
        let record = bench.recipient(key("")) ?? RecipientRecord()
        let kept = record.registrations.filter(\.isActive).map(\.name)
        #expect(kept.count >= 3 && kept.last == "phone29")
        #expect(bench.devices.filter { $0.name == .retired && $0.reason == .capped }.count == 30 - kept.count)
        // Of those that made room the last ones are kept, in a room of their own.
        let retired = record.registrations.filter { !$0.isActive }.map(\.name)
        #expect(retired.last == "phone\(29 - kept.count)" && (1..<30 - kept.count).contains(retired.count))
        #expect(record.retiredBytes <= Self.rules.retiredBytes && record.sharedBytes <= Self.rules.recipientBytes)
    }

    @Test func `the ids of removals take no room from devices and regions`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        for number in 0..<200 { bench.apply(removal("r\(number)", key(""))) }
        #expect(bench.recipient(key(""))?.bytes ?? 0 > Self.rules.recipientBytes)
        bench.apply(try DeviceTests.device("tablet", token: String(repeating: "b2", count: 32)))
        #expect(bench.recipient(key(""))?.registrations.filter(\.isActive).map(\.name) == ["phone", "tablet"])
        #expect(bench.apply(request("q", RegionTests.region())).summary == ["scheduled q"])
        #expect(Self.size(&bench) < Self.contentBytes + RecordBound.aroundContent)
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

    // MARK: - How many there are

    private static func claim(_ token: String, by name: String, released: Bool = false) -> CenterInput {
        var claim = TokenClaim(owner: key("phone", recipient: name), writtenAt: at(0))
        claim.isReleased = released
        return .claim(
            .init(token: key("", recipient: token), claim: claim, position: .init(.tokens, offset: 0), trace: .none)
        )
    }

    private static func isCapped(_ outcome: CenterInput.Outcome?) -> Bool {
        guard case .refused(let error)? = outcome else { return false }
        return error.reason == .capped && error.detail.contains("center.recipients")
    }

    @Test func `recipients with devices and tokens take no room from notifications`() throws {
        let limits = PartitionCenter.Limits(maximumEntries: 10)
        var bench = Bench(Self.rules, limits: limits)
        bench.apply(NotificationConsumerTests.request("q"))
        for number in 0..<40 {
            bench.apply(try DeviceTests.device(of: "r\(number)", token: String(format: "%064x", number)))
            bench.apply(Self.claim("token\(number)", by: "r\(number)"))
        }
        #expect(bench.center.entryCount == 1 && bench.center.recipientCount == 80)
        try bench.commit()
        #expect(bench.store.counts == StoreCounts(entries: 81, pending: 0, lasting: 80))
        var next = Bench(Self.rules, over: bench.store, limits: limits)
        #expect(next.center.entryCount == 1 && next.center.recipientCount == 80)
        for second in 1..<20 {
            #expect(try next.center.forget(at: at(Int64(second) * 1000)) == 0)
            try next.commit()
        }
        next.offset = bench.offset
        next.apply(NotificationConsumerTests.request("q"), 30_000)
        #expect(next.outcomes.last == .duplicate)
    }

    @Test func `beyond the bound the first device of another recipient and another token are refused`() throws {
        var bench = Bench(Self.rules, limits: .init(maximumRecipients: 3))
        func register(_ name: String, of recipient: String) throws -> CenterInput.Outcome? {
            bench.apply(
                try DeviceTests.device(
                    name,
                    of: recipient,
                    token: String(repeating: name == "a" ? "a1" : "b2", count: 32)
                )
            )
            return bench.outcomes.last
        }
        #expect(try register("a", of: "ana") == .registered && register("a", of: "bob") == .registered)
        bench.apply(Self.claim("t", by: "ana"))
        #expect(bench.outcomes.last == .claimed && bench.center.recipientCount == 3)
        #expect(Self.isCapped(try register("a", of: "carl")))
        bench.apply(Self.claim("u", by: "bob"))
        #expect(Self.isCapped(bench.outcomes.last))
        // What is known may change.
        #expect(try register("b", of: "ana") == .registered)
        bench.apply(Self.claim("t", by: "bob"))
        #expect(bench.outcomes.last == .claimed)
        bench.apply(DeviceTests.gone("a", of: "carl"))
        bench.apply(Self.claim("u", by: "bob", released: true))
        #expect(!Self.isCapped(bench.outcomes.last) && bench.center.recipientCount == 3)
        // Without its device a recipient takes no room, and notifications have theirs.
        bench.apply(DeviceTests.gone("a", of: "bob", at: 1), 1)
        #expect(bench.center.recipientCount == 2 && bench.center.entryCount == 1)
        #expect(try register("a", of: "carl") == .registered)
        #expect(bench.apply(NotificationConsumerTests.request("q")).summary == ["delivered q!"])
    }

    @Test func `a record that must not be forgotten is known as such by the changelog`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        let change = try #require(bench.center.cut(at: at(0), all: true).first)
        #expect(change.isLasting)
        #expect(try StateEntry.head(of: change.value ?? []).touched == .latest)
    }
}
