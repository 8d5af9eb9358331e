import NotificationModel
import Testing

@Suite("Schedules")
struct ScheduleTests {
    private let id = RequestID.uuid(UUIDValue(high: 1, low: 2))

    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(rawValue: milliseconds) }

    private func every(_ interval: Int64, repeats: Bool = true, jitter: Int64 = 0) -> Schedule {
        .interval(.init(interval: interval, anchor: at(1000), repeats: repeats, misfire: nil, jitter: jitter))
    }

    @Test("an interval's occurrences are counted from the anchor")
    func interval() {
        let schedule = every(60_000)
        #expect(schedule.first == at(61_000))
        #expect(schedule.next(after: at(61_000)) == at(121_000))
        #expect(schedule.previous(through: at(120_999), from: at(61_000)) == at(61_000))
        #expect(schedule.previous(through: at(121_000), from: at(61_000)) == at(121_000))
        #expect(schedule.previous(through: at(0), from: at(61_000)) == at(61_000))
        #expect(schedule.count(from: at(61_000), through: at(181_000)) == 3)
    }

    @Test("one that does not repeat has one occurrence")
    func once() {
        let schedule = every(1, repeats: false)
        #expect(schedule.first == at(1001))
        #expect(schedule.next(after: at(1001)) == nil)
        #expect(schedule.previous(through: .latest, from: at(1001)) == at(1001))
    }

    @Test(
        "an occurrence is due before the next one, and the last due one is found",
        arguments: [0, 1, 59_999, 600_000] as [Int64]
    )
    func jitter(_ jitter: Int64) throws {
        let schedule = every(60_000, jitter: jitter)
        var (occurrence, before) = (schedule.first, at(0))
        for _ in 0..<1000 {
            let next = try #require(schedule.next(after: occurrence))
            let due = schedule.due(for: occurrence, of: id)
            #expect(due >= occurrence && due < next && due.rawValue - occurrence.rawValue <= jitter)
            #expect(schedule.lastDue(at: due, from: schedule.first, of: id) == occurrence)
            if occurrence > schedule.first {
                #expect(schedule.lastDue(at: at(due.rawValue - 1), from: schedule.first, of: id) == before)
            }
            (occurrence, before) = (next, occurrence)
        }
    }

    @Test("the largest values of the changelog do not trap")
    func largest() {
        let schedule = every(.max, jitter: .max)
        #expect(schedule.first == at(.max))
        #expect(schedule.next(after: schedule.first) == at(.max))
        #expect(schedule.due(for: schedule.first, of: id) == at(.max))
        #expect(every(1, repeats: false, jitter: .max).due(for: at(1001), of: id) >= at(1001))
    }

    @Test("a trigger without a schedule is refused by its type")
    func refused() throws {
        #expect(try Schedule(.push, anchor: at(0)) == nil)
        let calendar = NotificationTrigger.calendar(CalendarTrigger(dateComponents: .init(hour: 9)))
        let error = #expect(throws: ModelError.self) { try Schedule.check(calendar) }
        #expect(error?.reason == .unsupportedForm && error?.field == "trigger.type")
    }
}
