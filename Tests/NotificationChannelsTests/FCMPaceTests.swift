import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("The pace of messages to Android devices")
struct FCMPaceTests {
    private static let wall = FCMSample.now

    /// A pace with names for messages, and a clock.
    private struct Desk {
        var pace: ProjectPace<String>
        let start = ContinuousClock.now
        var time = Duration.zero

        init(perSecond: Int, room: Int = 1_000, patience: Int64 = 60_000) {
            pace = ProjectPace(perSecond: perSecond, room: room, patience: patience)
        }

        mutating func turn(_ name: String, _ priority: WorkPriority = .normal, wall: Timestamp = wall) -> String {
            switch pace.turn(of: name, priority, at: start + time, wall: wall) {
            case .now: "now"
            case .later(let begins): begins ? "begins" : "later"
            case .refused(let pause): "refused \(pause)"
            }
        }

        mutating func due(unless cancelled: Set<String> = []) -> [String] {
            var due: [String] = []
            while let next = pace.next(at: start + time, isWanted: { !cancelled.contains($0) }) { due.append(next) }
            return due
        }
    }

    @Test func `the messages of a second go out at once, the others in their turn`() {
        var desk = Desk(perSecond: 10)
        #expect((0..<10).map { desk.turn("\($0)") } == Array(repeating: "now", count: 10))
        #expect(desk.turn("a") == "begins" && desk.turn("b") == "later")
        #expect(desk.due() == [])
        desk.time = desk.pace.wait(at: desk.start)
        #expect(desk.time == .milliseconds(100) && desk.due() == ["a"])
        desk.time = .milliseconds(200)
        #expect(desk.due() == ["b"] && desk.pace.count == 0)
        desk.time = .seconds(5)
        #expect(desk.turn("c") == "now")
    }

    @Test func `time-sensitive messages overtake, and what nobody awaits uses no quota`() {
        var desk = Desk(perSecond: 1)
        #expect(desk.turn("0") == "now")
        for (name, priority) in [("low", WorkPriority.low), ("gone", .high), ("normal", .normal), ("high", .high)] {
            _ = desk.turn(name, priority)
        }
        desk.time = .seconds(1)
        #expect(desk.due(unless: ["gone"]) == ["high"])
        desk.time = .seconds(2)
        #expect(desk.due() == ["normal"])
    }

    @Test func `what would wait for too long is not kept`() {
        var desk = Desk(perSecond: 10, room: 1_000, patience: 500)
        for number in 0..<15 { _ = desk.turn("\(number)") }
        #expect(desk.pace.room == 5 && desk.turn("more") == "refused 500")
    }

    @Test func `an exceeded quota pauses for a minute, then for longer, until a message is accepted`() {
        var desk = Desk(perSecond: 10)
        func later(_ milliseconds: Int64) -> Timestamp { Self.wall.adding(milliseconds: milliseconds) }
        #expect(desk.pace.exceeded(retryAfter: nil, wall: Self.wall) == 60_000)
        // Others that were on their way are no further refusals.
        #expect(desk.pace.exceeded(retryAfter: nil, wall: later(1_000)) == 59_000)
        #expect(desk.turn("a", wall: later(20_000)) == "refused 40000" && desk.pace.isPaused(wall: later(20_000)))
        #expect(desk.turn("a", wall: later(60_000)) == "now")
        #expect(desk.pace.exceeded(retryAfter: nil, wall: later(60_000)) == 120_000)
        desk.pace.accepted(wall: later(180_000))
        #expect(desk.pace.exceeded(retryAfter: nil, wall: later(180_000)) == 60_000)
        #expect(desk.pace.exceeded(retryAfter: 5_000, wall: later(240_000)) == 5_000)
    }

    @Test func `those that wait leave together when the quota is exceeded`() {
        var desk = Desk(perSecond: 1)
        for name in ["0", "a", "b"] { _ = desk.turn(name) }
        #expect(desk.pace.removeAll() == ["a", "b"] && desk.pace.count == 0)
        #expect(desk.turn("c") == "begins")
    }

    @Test func `a device gets so many in a minute and an hour, and others are not concerned`() {
        var rates = DeviceRates()
        var now = Timestamp(rawValue: 3_600_000 * 500_000)
        for _ in 0..<DeviceRates.inMinute { #expect(rates.pause(of: "a", at: now) == nil) }
        #expect(rates.pause(of: "a", at: now.adding(milliseconds: 1)) == 59_999 && rates.pause(of: "b", at: now) == nil)
        var sent = DeviceRates.inMinute
        while sent < DeviceRates.inHour {
            now = now.adding(milliseconds: 60_000)
            for _ in 0..<min(DeviceRates.inMinute, DeviceRates.inHour - sent) {
                #expect(rates.pause(of: "a", at: now) == nil)
                sent += 1
            }
        }
        now = now.adding(milliseconds: 60_000)
        let rest = 3_600_000 - now.rawValue % 3_600_000
        #expect(rates.pause(of: "a", at: now) == rest)
        #expect(rates.pause(of: "a", at: now.adding(milliseconds: rest)) == nil)
    }
}
