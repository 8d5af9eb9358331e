import Kafka
import NotificationModel
import Testing

@testable import CarillonSimulation

/// The events that the clock, the policy and the order of one key permit.
struct TimeChecksTests {
    private static func instant(_ milliseconds: Int64) -> Timestamp {
        SimulatedClock.beginning.adding(milliseconds: milliseconds)
    }

    @Test(arguments: [(4_999, Violation.Rule.timing), (5_000, nil)] as [(Int64, Violation.Rule?)])
    func `a request expires when its expiration has passed on the owner's clock`(
        at time: Int64,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk()
        desk.request("q") {
            $0.interval = 1_000
            $0.expiration = Self.instant(5_000)
        }
        #expect(Desk.broken { try desk.event(.expired, "q", closes: true, at: time) } == expected)
    }

    @Test(arguments: [(1_001, nil), (1_000, Violation.Rule.timing)] as [(Int64, Violation.Rule?)])
    func `a request expires immediately if its expiration is not after its due time`(
        interval: Int64,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk()
        desk.request("q") {
            $0.interval = interval
            $0.expiration = Self.instant(1_001)
        }
        #expect(Desk.broken { try desk.event(.expired, "q", closes: true) } == expected)
    }

    @Test(
        arguments: [
            (MisfirePolicy.drop, 12_000, nil), (.drop, 10_900, Violation.Rule.timing), (.next, 12_000, nil),
            (.once, 60_000, .timing), (nil, 901_000, nil), (nil, 60_000, .timing),
        ] as [(MisfirePolicy?, Int64, Violation.Rule?)]
    )
    func `an occurrence is missed if it is too late for its policy`(
        policy: MisfirePolicy?,
        at time: Int64,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk()
        desk.request("q") {
            ($0.interval, $0.repeats, $0.misfire) = (1_000, policy == nil, policy)
            if policy == nil { $0.interval = 1_000_000 }
        }
        let due = policy == nil ? Self.instant(1_000_000) : Self.instant(1_000)
        let broken = Desk.broken {
            try desk.event(.missed, "q", at: policy == nil ? 999_000 + time : time) {
                ($0.occurrence, $0.first, $0.last, $0.count) = (due, due, due, 1)
            }
        }
        #expect(broken == expected)
    }

    @Test(arguments: [(119_999, Violation.Rule.timing), (120_000, nil)] as [(Int64, Violation.Rule?)])
    func `an occurrence is missed if the next one is also due`(at time: Int64, expected: Violation.Rule?) throws {
        let desk = try Desk()
        desk.request("q") { ($0.interval, $0.repeats, $0.misfire) = (60_000, true, .once) }
        let first = Self.instant(60_000)
        let broken = Desk.broken {
            try desk.event(.missed, "q", at: time) {
                ($0.occurrence, $0.first, $0.last, $0.count) = (first, first, first, 1)
            }
        }
        #expect(broken == expected)
    }

    @Test func `a scheduled notification is due at its time with jitter, and not delivered before`() throws {
        let desk = try Desk()
        desk.request("q") { ($0.interval, $0.jitter) = (1_000, 30_000) }
        try desk.observer.follow()
        let entry = try #require(desk.observer.model.requests[Desk.id("q")])
        let due = desk.observer.model.due(entry, 1)
        #expect(due > Self.instant(1_000) && due <= Self.instant(31_000))
        let wrong = Desk.broken { try desk.event(.scheduled, "q") { $0.nextTriggerDate = Self.instant(1_000) } }
        #expect(wrong == .timing)
        let early = Desk.broken {
            try desk.event(.delivered, "q", closes: true, at: due.rawValue - SimulatedClock.beginning.rawValue - 1) {
                $0.occurrence = Self.instant(1_000)
            }
        }
        #expect(early == .timing)
    }

    @Test func `a notification is held at most for its collapse window`() throws {
        let desk = try Desk()
        desk.request("q") { $0.collapseWindow = 500 }
        #expect(Desk.broken { try desk.event(.held, "q") { $0.until = Self.instant(501) } } == .timing)
    }

    @Test(arguments: [true, false])
    func `an older request is never delivered after a newer one of the same key`(usesChannel: Bool) throws {
        for isExactlyOnce in [true, false] {
            let desk = try Desk(isExactlyOnce: isExactlyOnce, usesChannel: usesChannel)
            desk.request("a")
            desk.request("b")
            try desk.event(.delivered, "b", closes: true)
            #expect(Desk.broken { try desk.event(.delivered, "a", closes: true) } == .order)
        }
    }

    /// Another process, or the same one in another generation of the group.
    @Test(arguments: [(2, 1), (1, 2), (1, 1)])
    func `without transactions a new owner repeats events in their order`(id: Int64, generation: Int) throws {
        for isExactlyOnce in [true, false] {
            let desk = try Desk(isExactlyOnce: isExactlyOnce)
            desk.request("a")
            desk.request("b")
            (desk.writer, desk.generation) = (ProducerStamp(id: 1, epoch: 0), 1)
            try desk.event(.delivered, "b", closes: true)
            (desk.writer, desk.generation) = (ProducerStamp(id: id, epoch: 0), generation)
            let broken = Desk.broken { try desk.event(.delivered, "a", closes: true) }
            let isNewOwner = id != 1 || generation != 1
            #expect(broken == (isExactlyOnce || !isNewOwner ? .order : nil))
        }
    }

    @Test func `no notification is late or missed, and no lane fails, in undisturbed operation`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 60_000 }
        desk.request("r") { ($0.interval, $0.repeats) = (60_000, true) }
        try desk.event(.delivered, "q", closes: true, at: 60_000) { $0.occurrence = Self.instant(60_000) }
        func checked(at now: Int64, disturbed: Int64 = 0, busy: Int64 = 0) -> Violation.Rule? {
            var checks = PunctualityChecks { max(0, min(busy, 61_000_000 - $0)) }
            checks.disturb(at: disturbed)
            return Desk.broken {
                try checks.check(desk.observer, at: now, slack: 0, areClocksRight: true, usesChannel: false)
            }
        }
        #expect(checked(at: 61_400_000) == nil)
        #expect(checked(at: 61_600_000) == .punctual)
        #expect(checked(at: 61_600_000, disturbed: 40_000_000) == nil)
        #expect(checked(at: 62_400_000, busy: 1_000_000) == nil)
        #expect(checked(at: 62_600_000, busy: 5_000_000) == .punctual)
        #expect(checked(at: 90_000_000, disturbed: 40_000_000) == .punctual)
        try desk.event(.missed, "r", at: 1_000_000) {
            ($0.occurrence, $0.first, $0.last, $0.count) = (
                Self.instant(60_000), Self.instant(60_000), Self.instant(60_000), 1
            )
        }
        #expect(checked(at: 60_000_000) == .punctual)
        #expect(checked(at: 60_000_000, disturbed: 50_000_000) == nil)
    }
}
