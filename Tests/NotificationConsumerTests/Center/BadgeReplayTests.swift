import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// A notification changes its entry and, with its badge, the record of its recipient: the changelog has both or neither.
struct BadgeReplayTests {
    private static let recipients = ["ana", "bo"]

    private static func content(_ step: Int, _ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: #"{"title":"T","badge":\#(step % 9)}"#
        case 1: #"{"title":"T","categoryIdentifier":"C","threadIdentifier":"t"}"#
        default: #"{"title":"T","badgeIncrement":\#(step % 4 + 1)}"#
        }
    }

    private static func input(_ step: Int, _ random: inout SeededGenerator) throws -> CenterInput {
        let recipient = recipients[Int.random(in: 0..<2, using: &random)]
        let target = key("k\(Int.random(in: 0..<4, using: &random))", recipient: recipient)
        let phone = "phone\(Int.random(in: 0..<3, using: &random))"
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<14: return DeviceTests.request("q\(step)", content(step, &random), target)
        case 14: return DeviceTests.request("q\(max(0, step - 7))", content(step, &random), target)
        case 15: return request("q\(step)", target, interval(0.3, from: at(Int64(step) * 100)))
        case 16: return removal("r\(step)", target)
        case 17: return removal("r\(step)", key("", recipient: recipient))
        case 18:
            let state = AppStateSignal(
                application: "shop",
                device: phone,
                state: Bool.random(using: &random) ? .foreground : .background,
                badge: Bool.random(using: &random) ? 0 : nil
            )
            return DeviceTests.signal(.appState(state), of: recipient, at: Int64(step) * 100)
        case 19: return DeviceTests.gone(phone, of: recipient, at: Int64(step) * 100)
        default:
            return try DeviceTests.device(
                phone,
                of: recipient,
                token: String(repeating: recipient == "ana" ? "a1" : "b2", count: 31) + "0\(phone.suffix(1))",
                status: Int.random(in: 0..<4, using: &random) == 0 ? .denied : .authorized,
                settings: Bool.random(using: &random) ? [:] : [.badge: .disabled],
                at: Int64(step) * 100
            )
        }
    }

    @Test(arguments: 0..<100)
    func `from any cut, a replay of the log counts each badge once`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let rules = LifecycleRules(retention: 86_400_000, foregroundKept: 700)
        let limits = PartitionCenter.Limits(retention: 86_400_000)
        var bench = Bench(rules, limits: limits)
        var log: [CenterInput] = []
        let end = Int.random(in: 50..<300, using: &random)
        for step in 0..<end {
            let now = Int64(step) * 100
            var next = try Self.input(step, &random).written(at: at(now))
            if case .request = next { next = next.placed(at: Int64(step)) }
            log.append(next.placed(at: Int64(step)))
            bench.apply(next, now)
            bench.fire(now)
            _ = try bench.center.forget(at: at(now))
            if Int.random(in: 0..<5, using: &random) == 0 {
                let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(now))
                var room = Int.random(in: 0..<4000, using: &random)
                let changes = bench.center.cut(at: at(now), all: false, room: &room)
                // Entries before the records of their recipients.
                let kinds = try changes.map { try NotificationKey(encoded: $0.key).isWholeRecipient }
                #expect(kinds == kinds.sorted { !$0 && $1 })
                try bench.center.noteCommitted(changes, position: position)
            }
        }
        let wall = at(Int64(end) * 100)
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: wall)
        try bench.center.noteCommitted(bench.center.cut(at: wall), position: position)

        var again = Bench(rules, over: bench.store, limits: limits)
        again.center.keepsRecipients = bench.center.keepsRecipients
        let first = bench.center.replayOffset(of: .requests) ?? Int64(end)
        let last = bench.center.replayEnd(of: .requests) ?? Int64(end)
        for input in log[Int(first)..<Int(last)] where input.position.input == .requests {
            try again.center.replay(input, at: wall.adding(milliseconds: 5_000))
        }
        for recipient in Self.recipients {
            let everything = key("", recipient: recipient)
            let (was, now) = (bench.recipient(everything), again.recipient(everything))
            #expect(was?.registrations == now?.registrations)
            for target in (0..<4).map({ key("k\($0)", recipient: recipient) }) {
                let (was, now) = (bench.entry(target), again.entry(target))
                #expect(was?.delivered?.requestID == now?.delivered?.requestID)
                #expect(was?.delivered?.details == now?.delivered?.details)
                #expect(was?.known.map(\.id) ?? [] == now?.known.map(\.id) ?? [])
                #expect(was?.pending == now?.pending && was?.handover == now?.handover)
            }
        }
    }

    @Test func `requests that only change a badge wait for a later cut, with the record`() throws {
        var bench = Bench()
        bench.apply(try DeviceTests.device())
        try bench.commit()
        bench.apply(DeviceTests.request("a", #"{"title":"T","badgeIncrement":1}"#), 0)
        #expect(bench.center.cut(at: at(1)).isEmpty)
        bench.apply(DeviceTests.request("b", #"{"title":"T","badgeIncrement":1}"#, key("other")), 2)
        // One of them goes, and takes the record and what else waits with it.
        bench.apply(request("c", interval(60)), 3)
        let keys = bench.center.cut(at: at(4)).map { String(decoding: $0.key, as: UTF8.self) }
        #expect(keys == ["shop/ana/order", "shop/ana/other", "shop/ana/"])
    }
}
