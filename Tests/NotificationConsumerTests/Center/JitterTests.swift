import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// Each occurrence is compared with its own due time, which includes its jitter.
struct JitterTests {
    private struct Plan {
        let interval: Int64
        let schedule: Schedule
        var plan: CenterInput.Plan { .scheduled(schedule) }

        /// Jitter up to and above the interval.
        init(_ random: inout SeededGenerator) {
            interval = Int64.random(in: 60_000...200_000, using: &random)
            schedule = .interval(
                .init(
                    interval: interval,
                    anchor: at(0),
                    repeats: true,
                    misfire: [nil, .once, .next, .drop].randomElement(using: &random) ?? nil,
                    jitter: Int64.random(in: interval / 2...interval * 2, using: &random)
                )
            )
        }
    }

    /// Each occurrence that was sent according to an event.
    private static func occurrences(_ events: [DeliveryEvent]) -> [Timestamp] {
        events.filter { $0.name == .delivered }.compactMap(\.occurrence)
    }

    @Test(arguments: 0..<200)
    func `without an outage each occurrence is sent once, and not before it is due`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let plan = Plan(&random)
        var bench = Bench()
        bench.apply(request("q", plan.plan), 0)
        var now: Int64 = 0
        while now < 20 * plan.interval {
            // A busy second, or a restart of a few seconds, is not an outage.
            now += Int64.random(in: 1...9_000, using: &random)
            for event in bench.fire(now) {
                #expect(event.name == .delivered)
                guard let occurrence = event.occurrence else { continue }
                let due = plan.schedule.due(for: occurrence, of: id("q"))
                #expect(due <= at(now))
                #expect(now - due.rawValue + at(0).rawValue <= 9_000)
            }
        }
        let sent = Self.occurrences(bench.events)
        let expected = (1...).lazy.map { at($0 * plan.interval) }
        #expect(sent == Array(expected.prefix(sent.count)) && sent.count >= 18)
    }

    @Test(arguments: 0..<200)
    func `after an outage the due occurrences are missed, and no other is sent early`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let plan = Plan(&random)
        var bench = Bench()
        bench.apply(request("q", plan.plan), 0)
        var now: Int64 = 0
        for _ in 0..<10 {
            now += Int64.random(in: 1...5 * plan.interval, using: &random)
            bench.fire(now)
            for event in bench.events {
                let last = event.name == .missed ? event.last : event.occurrence
                guard let last else { continue }
                #expect(plan.schedule.due(for: last, of: id("q")) <= at(now))
            }
        }
        // Each occurrence was sent or missed, once, in order.
        var next = at(plan.interval)
        for event in bench.events where event.name != .scheduled {
            #expect((event.first ?? event.occurrence) == next)
            let last = event.last ?? event.occurrence ?? next
            #expect(event.count.map { plan.schedule.count(from: next, through: last) == $0 } ?? true)
            next = last.adding(milliseconds: plan.interval)
        }
        #expect(plan.schedule.due(for: next, of: id("q")) > at(now))
    }

    @Test func `a restart of five seconds misses no occurrence`() throws {
        let interval = IntervalSchedule(interval: 60_000, anchor: at(0), repeats: true, misfire: nil, jitter: 59_000)
        let schedule = Schedule.interval(interval)
        var bench = Bench()
        bench.apply(request("q", .scheduled(schedule)), 0)
        try bench.commit()
        let first = schedule.due(for: at(60_000), of: id("q"))
        let late = first.rawValue - at(0).rawValue + 5_000
        var again = Bench(over: bench.store)
        try again.center.refill(at: at(late))
        #expect(again.fire(late).map(\.occurrence) == [at(60_000)])
        #expect(again.entry(key("order"))?.pending?.due == schedule.due(for: at(120_000), of: id("q")))
    }
}
