import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// Any interleaving of add, replace, remove and fire keeps the counting rule, compared as sets of ids.
struct CenterPropertyTests {
    @Test(arguments: 0..<200)
    func `every request is closed, open or a duplicate, and none is sent early`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var bench = Bench()
        var now: Int64 = 0
        var read: Set<RequestID> = []
        var removals: Set<RequestID> = []
        var dueOf: [RequestID: Timestamp] = [:]
        var keyOf: [String: NotificationKey] = [:]
        let names = ["a", "b", "c", "d", "e"]
        let recipients = ["ana", "bo"]

        for step in 0..<300 {
            now += Int64.random(in: 0...40_000, using: &random)
            let target = key(
                names.randomElement(using: &random) ?? "a",
                recipient: recipients.randomElement(using: &random) ?? "ana"
            )
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let isRepeat = Int.random(in: 0..<8, using: &random) == 0 && step > 0
                let name = isRepeat ? "q\(Int.random(in: 0..<step, using: &random))" : "q\(step)"
                let plan: CenterInput.Plan
                switch Int.random(in: 0..<4, using: &random) {
                case 0: plan = .immediate(collapseWindow: 0)
                case 1: plan = .immediate(collapseWindow: Int64.random(in: 1...20_000, using: &random))
                case 2: plan = interval(Double.random(in: 0.1...120, using: &random), from: at(now))
                default: plan = interval(60, repeats: true, from: at(now))
                }
                let expiration =
                    Bool.random(using: &random) ? at(now + Int64.random(in: -5...200_000, using: &random)) : nil
                // A repeated record has its own key.
                let target = keyOf[name] ?? target
                keyOf[name] = target
                let events = bench.apply(request(name, target, plan, expiration: expiration), now)
                if bench.outcomes.last == .applied { read.insert(id(name)) }
                for event in events where event.name == .scheduled { dueOf[event.requestID] = event.nextTriggerDate }
            case 5, 6:
                let scope = RemovalScope.allCases.randomElement(using: &random) ?? .all
                bench.apply(removal("r\(step)", target, scope), now)
                removals.insert(id("r\(step)"))
            case 7:
                bench.apply(removal("r\(step)", key("", recipient: target.recipient)), now)
                removals.insert(id("r\(step)"))
            default:
                for event in bench.fire(now) where event.name == .delivered {
                    if let occurrence = event.occurrence { #expect(occurrence <= at(now)) }
                    if let due = dueOf[event.requestID] { #expect(due <= at(now)) }
                }
            }
        }

        let closing = bench.events.filter { $0.closes }.map(\.requestID)
        let closed = Set(closing)
        #expect(closing.count == closed.count, "a request closed twice")
        var open: Set<RequestID> = []
        for recipient in recipients {
            for name in names {
                if let pending = bench.entry(key(name, recipient: recipient))?.pending {
                    open.insert(pending.requestID)
                }
            }
        }
        #expect(open.count == bench.center.pendingCount)
        #expect(open.isDisjoint(with: closed))
        #expect(read == closed.union(open).subtracting(removals))
        // A reader that drops repeats can distinguish all events of a request.
        let told = bench.events.filter { $0.name == .delivered }.map(\.eventID)
        #expect(Set(told).count == told.count)
    }

    @Test func `the batching of inputs does not change an outcome`() {
        var inputs: [(CenterInput, Int64)] = []
        for step in 0..<100 {
            inputs.append((request("q\(step)", key("k\(step % 7)"), interval(Double(1 + step % 5))), Int64(step * 300)))
        }
        func run(firingEvery batch: Int) -> [String] {
            var bench = Bench()
            for (number, input) in inputs.enumerated() {
                // Due timers fire first in every batch.
                bench.fire(input.1)
                bench.apply(input.0, input.1)
                if number % batch == 0 { bench.fire(input.1) }
            }
            bench.fire(1_000_000)
            return bench.events.summary
        }
        #expect(run(firingEvery: 1) == run(firingEvery: 17))
    }
}
