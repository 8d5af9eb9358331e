import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The log orders registrations, their ends, and claims of tokens: the clocks of phones do not.
@Suite("Registrations in the order of the log")
struct RegistrationOrderTests {
    private static let first = String(repeating: "a1", count: 32)
    private static let second = String(repeating: "b2", count: 32)

    private static func device(_ recipient: String, written: Int64, registered: Int64 = 100) throws -> CenterInput {
        try DeviceTests.device(of: recipient, at: registered, written: written)
    }

    private static func isActive(_ recipient: String, _ bench: inout Bench) -> Bool {
        bench.recipient(key("", recipient: recipient))?.hasActiveDevice ?? false
    }

    // MARK: - Registrations

    @Test func `a device that registers after its end counts, with the time that its app gave before`() throws {
        var bench = Bench()
        bench.apply(try Self.device("ana", written: 100))
        bench.apply(DeviceTests.gone(at: 200), 200)
        bench.apply(try Self.device("ana", written: 300), 300)
        #expect(bench.outcomes.last == .registered)
        #expect(bench.apply(DeviceTests.request("a", #"{"title":"T"}"#)).summary == ["delivered a!"])
    }

    @Test func `the registration that is read later replaces the one before, also when the phone's clock went back`()
        throws
    {
        var bench = Bench()
        bench.apply(try DeviceTests.device(token: Self.first, at: 100_000, written: 10))
        bench.apply(try DeviceTests.device(token: Self.second, at: 5, written: 20))
        #expect(bench.outcomes.last == .registered)
        #expect(bench.recipient(key(""))?.registrations.map(\.registration.token) == [Self.second])
    }

    @Test func `at the bound the device makes room whose registration was read longest ago`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.maximumDevices = 2
        var bench = Bench(rules)
        let third = String(repeating: "c3", count: 32)
        // Of one millisecond, and with clocks that say the contrary.
        for (name, token, registered) in [
            ("one", Self.first, 0), ("two", Self.second, 10), ("one", Self.first, 5), ("three", third, 20),
        ] {
            bench.apply(try DeviceTests.device(name, token: token, at: Int64(registered), written: 10))
        }
        #expect(bench.recipient(key(""))?.registrations.filter(\.isActive).map(\.name) == ["one", "three"])
    }

    // MARK: - Read again

    @Test func `after a crash between the entries and the marker no record is applied again`() throws {
        var bench = Bench()
        let log = [
            try Self.device("ana", written: 10), DeviceTests.gone(at: 20), try Self.device("ana", written: 30),
        ]
        for input in log { bench.apply(input) }
        try bench.commit()
        var next = Bench(over: bench.store)
        for input in log { next.apply(input) }
        #expect(next.outcomes == [.duplicate, .duplicate, .duplicate])
        #expect(next.devices.isEmpty && next.claims.isEmpty && Self.isActive("ana", &next))
        let event = next.apply(DeviceTests.request("a", #"{"title":"T"}"#)).last
        #expect(try DeviceTests.devices(event).map { $0["device"] } == [.string("phone")])
        // What follows them is new, and so is the first record of another life of the topic.
        next.apply(try Self.device("ana", written: 40))
        (next.offset, next.life) = (0, 1)
        next.apply(DeviceTests.gone(at: 50))
        #expect(next.outcomes.suffix(2) == [.refreshed, .retired])
    }

    @Test func `a removal is still known after the topic of registrations was created again`() throws {
        var bench = Bench()
        bench.apply(try Self.device("ana", written: 10))
        bench.apply(removal("all", key("")))
        let removals = bench.recipient(key(""))?.removals
        bench.life = 1
        bench.apply(try Self.device("ana", written: 20))
        #expect(bench.recipient(key(""))?.removals == removals)
    }

    @Test func `claims that are read again take the token from nobody`() throws {
        func claim(_ recipient: String, _ written: Int64, released: Bool = false) throws -> CenterInput {
            try DeviceTests.claim(recipient, at: written, released: released)
        }
        // The clock of the second host is behind.
        let log = [try claim("ana", 20), try claim("ana", 21, released: true), try claim("bob", 15)]
        var bench = Bench()
        for input in log { bench.apply(input) }
        try bench.commit()
        var next = Bench(over: bench.store)
        for input in log { next.apply(input) }
        #expect(next.signals.isEmpty && next.outcomes == [.duplicate, .duplicate, .duplicate])
    }

    // MARK: - Tokens

    /// Who has the token at the end, of phones whose apps give one time.
    private static func owners(
        _ order: [(recipient: String, written: Int64, registered: Int64)],
        settlesEach: Bool
    ) throws -> [String] {
        var bench = Bench()
        for (recipient, written, registered) in order {
            bench.apply(try device(recipient, written: written, registered: registered), written)
            if settlesEach { try bench.settle(written) }
        }
        try bench.settle(1_000)
        return ["ana", "bob"].filter { isActive($0, &bench) }
    }

    @Test(arguments: [true, false], [0, 10] as [Int64])
    func `a token that returns to the first person is that person's`(settlesEach: Bool, apart: Int64) throws {
        let order = ["ana", "bob", "ana"].enumerated().map { ($1, 10 + Int64($0) * apart, Int64(100)) }
        #expect(try Self.owners(order, settlesEach: settlesEach) == ["ana"])
    }

    @Test(arguments: [true, false])
    func `a phone whose clock is slow gets the token of another`(settlesEach: Bool) throws {
        #expect(try Self.owners([("ana", 10, 5_000), ("bob", 20, 5)], settlesEach: settlesEach) == ["bob"])
    }

    @Test func `a move spares the registration that was written after it, and a platform's word what came after it`()
        throws
    {
        var bench = Bench()
        bench.apply(try Self.device("ana", written: 10, registered: 50))
        let token = "sha256:" + bench.claims[0].token
        func retire(_ token: String?, gone: Int64) {
            bench.apply(DeviceTests.signal(.retirement(.init(device: "phone", token: token, gone: at(gone)))))
        }
        retire(token, gone: 10)
        #expect(bench.outcomes.last == .unknown)
        // The app's clock is ahead of the log.
        retire(Self.first, gone: 50)
        #expect(bench.outcomes.last == .unknown)
        retire(token, gone: 11)
        #expect(bench.outcomes.last == .matched && bench.devices.last?.reason == .moved)
    }

    // MARK: - Time zone

    @Test func `the zone is that of the device registered last that has one`() throws {
        var bench = Bench()
        func zone() -> String? { bench.recipient(key(""))?.timeZone }
        bench.apply(try DeviceTests.device("phone", zone: "Asia/Shanghai", at: 10))
        bench.apply(try DeviceTests.device("browser", token: Self.second, at: 20))
        #expect(zone() == "Asia/Shanghai")
        let third = String(repeating: "c3", count: 32)
        bench.apply(try DeviceTests.device("watch", token: third, zone: "Europe/Berlin", at: 5, written: 30))
        #expect(zone() == "Europe/Berlin")
        bench.apply(DeviceTests.gone("watch", at: 40))
        #expect(zone() == "Asia/Shanghai")
    }

    // MARK: - Events

    @Test func `an event has the time of its record, so that a repeat has its id and another record another`() throws {
        func events(_ clock: Int64) throws -> [DeviceEvent] {
            var rules = LifecycleRules(retention: 1_000_000)
            rules.maximumDevices = 1
            var bench = Bench(rules)
            bench.apply(try DeviceTests.device(token: Self.first, at: 5, written: 10), clock)
            bench.apply(try DeviceTests.device(token: Self.second, at: 5, written: 10), clock)
            bench.apply(DeviceTests.gone(at: 20), clock)
            bench.apply(try DeviceTests.device(token: Self.first, at: 5, written: 30), clock)
            bench.apply(try DeviceTests.device("tablet", token: Self.second, at: 5, written: 40), clock)
            return bench.devices
        }
        let once = try events(100)
        #expect(once.map(\.name) == [.registered, .registered, .retired, .registered, .registered, .retired])
        #expect(once.map(\.at) == [at(10), at(11), at(20), at(30), at(40), at(40)])
        #expect(Set(once.map(\.eventID)).count == 6)
        #expect(try events(200) == once)
    }

    @Test func `a device whose token another name of the recipient has registered is replaced`() throws {
        var bench = Bench()
        bench.apply(try DeviceTests.device("old", at: 10))
        bench.apply(try DeviceTests.device("new", at: 20))
        #expect(bench.devices.last?.key.identifier == "old" && bench.devices.last?.name == .retired)
        #expect(bench.devices.last?.reason == .replaced && bench.devices.last?.at == at(20))
    }

    // MARK: - Retired devices

    @Test func `a retired device is kept since its retirement was applied, whenever the token was gone`() throws {
        let retention: Int64 = 1_000_000
        var bench = Bench(LifecycleRules(retention: retention))
        bench.apply(try DeviceTests.device(at: -5 * retention, written: 0))
        bench.apply(DeviceTests.signal(.retirement(.init(device: "phone", gone: at(-4 * retention)))), 10)
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.at == at(-4 * retention))
        #expect(bench.apply(DeviceTests.request("a", #"{"title":"T"}"#), 20)[0].reason == .noDevice)
        #expect(bench.recipient(key(""))?.registrations.first?.retiredAt == at(10))
    }
}

extension Bench {
    /// Applies what the partition has published to itself: claims of tokens, and signals to those who have lost one.
    fileprivate mutating func settle(_ milliseconds: Int64) throws {
        let (claims, before) = (claims, signals.count)
        self.claims = []
        for (token, claim) in claims {
            apply(
                .claim(
                    .init(
                        token: key("", recipient: token, application: claim.owner.application),
                        claim: claim,
                        position: .init(.tokens, offset: 0),
                        trace: .none
                    )
                ),
                milliseconds
            )
        }
        for (recipient, signal) in signals[before...] {
            apply(DeviceTests.signal(signal, of: recipient, at: milliseconds), milliseconds)
        }
        if !self.claims.isEmpty { try settle(milliseconds) }
    }
}
