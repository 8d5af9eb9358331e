import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// What one record changes in many entries of a recipient is applied in pieces, and charged by what is written.
struct ProcedureTests {
    private static let limits = PartitionCenter.Limits(entriesPerPiece: 2)
    private static let tablet = String(repeating: "b2", count: 32)

    private static var rules: LifecycleRules {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        return rules
    }

    /// Ana's phone shows five notifications, some of which only the store has.
    private static func bench(limits: PartitionCenter.Limits = limits) throws -> Bench {
        var bench = Bench(rules, limits: limits)
        bench.apply(try DeviceTests.device())
        for number in 0..<5 {
            bench.apply(DeviceTests.request("r\(number)", #"{"title":"T"}"#, key("k\(number)")))
            try bench.answer(.accepted)
            if number == 2 {
                try bench.commit()
                bench.center.inUse.evict(beyond: 0)
                bench.center.inUse.evict(beyond: 0)
            }
        }
        bench.sends = []
        return bench
    }

    /// The keys of the removals that were sent.
    private static func removed(_ bench: Bench) -> [String] {
        bench.sends.filter { $0.kind == .remove }.map(\.key.identifier).sorted()
    }

    @Test func `the end of a device asks it in pieces, and its record changes with the last one`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.gone(at: 5), 5)
        #expect(bench.outcomes.last == .unfinished && Self.removed(bench).count == 2)
        #expect(bench.recipient(key(""))?.hasActiveDevice("phone") == true && bench.devices.count == 1)
        #expect(bench.fire(6).isEmpty, "no timer fires meanwhile")
        var pieces = 1
        while bench.outcomes.last == .unfinished {
            bench.proceed(6)
            pieces += 1
        }
        #expect(pieces >= 3 && bench.outcomes.last == .retired)
        #expect(Self.removed(bench) == ["k0", "k1", "k2", "k3", "k4"])
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.shows == ["k0", "k1", "k2", "k3", "k4"])
        #expect(bench.recipient(key(""))?.hasActiveDevice("phone") == false)
    }

    @Test func `after a crash between two pieces the rest follows, and nothing twice`() throws {
        var bench = try Self.bench()
        let place = bench.offset
        bench.apply(DeviceTests.gone(at: 5), 5)
        let first = Self.removed(bench)
        for number in bench.sends.indices { try bench.answer(.accepted, 6, number: number) }
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, limits: Self.limits, firedThrough: at(10))
        next.offset = place
        next.apply(DeviceTests.gone(at: 5), 20)
        while next.outcomes.last == .unfinished { next.proceed(20) }
        let both = Set(first + Self.removed(next))
        #expect(both == ["k0", "k1", "k2", "k3", "k4"])
        #expect(next.outcomes.last == .retired)
    }

    @Test func `an answer between two pieces does not send to the device that leaves`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device("tablet", token: Self.tablet, at: 1), 1)
        bench.apply(DeviceTests.request("late", #"{"title":"T"}"#, key("z")), 2)
        let late = try #require(bench.sends.last)
        bench.apply(DeviceTests.gone(at: 5), 5)
        #expect(bench.outcomes.last == .unfinished)
        _ = try bench.center.apply(.failed(retryAfter: nil), to: late, at: at(6))
        while bench.outcomes.last == .unfinished { bench.proceed(6) }
        bench.fire(600_000)
        let again = try #require(bench.sends.last { $0.requestID == id("late") })
        #expect(again.kind != .remove && String(decoding: again.devices ?? [], as: UTF8.self).contains("tablet"))
        #expect(!String(decoding: again.devices ?? [], as: UTF8.self).contains("phone"))
    }

    @Test(arguments: [AuthorizationStatus.denied, .notDetermined])
    func `a device that may not show notifications any more is asked to remove them`(
        status: AuthorizationStatus
    ) throws {
        var bench = try Self.bench(limits: .init())
        bench.apply(try DeviceTests.device(status: status, at: 5), 5)
        #expect(Self.removed(bench) == ["k0", "k1", "k2", "k3", "k4"])
        #expect(bench.outcomes.last == .registered)
        #expect(bench.events.filter { $0.name == .removed }.count == 5)
        bench.apply(try DeviceTests.device(status: status, at: 6), 6)
        #expect(bench.sends.count == 5, "once")
    }

    @Test func `a piece ends when it has written enough`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: Self.tablet, at: 1), 1)
        let content = #"{"title":"T","body":"\#(String(repeating: "x", count: 300_000))"}"#
        for number in 0..<8 {
            bench.apply(DeviceTests.request("r\(number)", content, key("k\(number)")))
            try bench.answer(.accepted)
        }
        try bench.commit()
        bench.sends = []
        bench.apply(DeviceTests.gone(at: 5), 5)
        #expect(bench.outcomes.last == .unfinished && (3...5).contains(Self.removed(bench).count))
    }

    @Test func `a signal is charged with the entry that is written for it`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        let content = #"{"title":"T","body":"\#(String(repeating: "x", count: 100_000))"}"#
        bench.apply(DeviceTests.request("r", content))
        try bench.answer(.accepted)
        try bench.commit()
        _ = bench.center.takeCharge()
        let receipt = ReceiptSignal(identifier: "order", requestID: id("r"), device: "phone", receipt: .received)
        bench.apply(DeviceTests.signal(.receipt(receipt), at: 5), 5)
        let charge = bench.center.takeCharge()
        let cut = bench.center.cut(at: at(6), all: true).reduce(0) { $0 + ($1.value?.count ?? 0) }
        #expect(charge > 100_000 && charge >= cut, "\(charge) for \(cut)")
        #expect(bench.center.takeCharge() == 0)
    }

    @Test func `digests have a share of their own: no device makes room for them`() throws {
        var record = RecipientRecord()
        let policy = DigestPolicy(by: .thread, window: 60_000)
        for number in 0..<10 {
            for member in 0..<50 {
                _ = record.collect("n\(number)-\(member)", into: "thread:\(number)", for: policy, at: at(0))
            }
        }
        func registration(_ name: String) throws -> DeviceRegistration {
            try DeviceRegistration(json: Array(#"{"platform":"web","token":"\#(name)"}"#.utf8))
        }
        let bytes = 10_000
        #expect(record.digestBytes > bytes)
        for (time, name) in ["a", "b", "c"].enumerated() {
            let outcome = record.register(
                name,
                try registration(name),
                writtenAt: at(Int64(time)),
                at: at(0),
                atMost: 16,
                bytes: bytes
            )
            #expect(outcome == .changed(former: nil, dropped: []))
        }
    }
}
