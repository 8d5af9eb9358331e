import NotificationModel
import Testing

@testable import CarillonBench

@Suite("The benchmark of calendar triggers")
struct CalendarBenchmarkTests {
    private static func benchmark(_ workload: CalendarWorkload) throws -> CalendarBenchmark {
        // Every measurement has one pass.
        CalendarBenchmark(workload: workload, rounds: 2, seconds: 0, workbench: try Workbench(in: nil))
    }

    @Test("it has as many starts of each trigger as requested, and occurrences that ascend from each")
    func workload() throws {
        let workload = try CalendarWorkload(starts: 5, length: 4)
        #expect(workload.triggers.count == CalendarWorkload.entries.count)
        #expect(workload.count == CalendarWorkload.entries.count * 20)
        for trigger in workload.triggers {
            #expect(trigger.starts.count == 5 && trigger.occurrences.count == 5)
            for (start, occurrences) in zip(trigger.starts, trigger.occurrences) {
                let instants = [start] + occurrences
                #expect(occurrences.count == 4 && instants == Set(instants).sorted(), "\(trigger.entry.name)")
            }
        }
    }

    @Test("no occurrence is at a change of the clocks, and hourly ones have none among them")
    func plain() throws {
        for trigger in try CalendarWorkload(starts: 200, length: 10).triggers {
            guard case .calendar(let schedule) = trigger.schedule else { continue }
            for occurrence in trigger.occurrences.joined() {
                #expect(schedule.explain(occurrence)?.resolution == .exact, "\(trigger.entry.name): \(occurrence)")
            }
            guard schedule.trigger.dateComponents.hour == nil else { continue }
            for occurrences in trigger.occurrences {
                #expect(Set(occurrences.map(schedule.zone.offset)).count == 1, "\(trigger.entry.name)")
            }
        }
    }

    @Test("a trigger whose every time is in a gap of the clock is refused")
    func gaps() throws {
        // The last Sunday of March is the fourth one or the fifth.
        let zone = "Europe/Berlin"
        let gap = CalendarWorkload.Entry("gap", zone, .init(year: 2_027, month: 3, day: 28, hour: 2, minute: 30))
        #expect(throws: BenchmarkError.self) { try CalendarWorkload([gap], starts: 1, length: 1) }
        let never = CalendarWorkload.Entry("never", zone, .init(month: 2, day: 30))
        #expect(throws: BenchmarkError.self) { try CalendarWorkload([never], starts: 1, length: 1) }
    }

    @Test("the schedule and Foundation find the same instants, and both are measured")
    func same() throws {
        let rates = try Self.benchmark(CalendarWorkload(starts: 3, length: 10)).run([
            CalendarFunction.carillon, CalendarFunction.foundation,
        ])
        #expect(Set(rates.keys) == ["carillon", "foundation"] && rates.values.allSatisfy { $0 > 0 })
    }

    @Test("a subject that finds another instant fails the benchmark, with the trigger's name")
    func different() throws {
        let benchmark = try Self.benchmark(CalendarWorkload(starts: 2, length: 2))
        let late = CalendarFunction(name: "late") { trigger in
            let isLate = trigger.entry.name == CalendarWorkload.entries[3].name
            return { trigger.schedule.next(after: $0)?.adding(milliseconds: isLate ? 1_000 : 0) }
        }
        let error = try #require(throws: BenchmarkError.self) { try benchmark.run([CalendarFunction.carillon, late]) }
        #expect(error.description.contains("late, \(CalendarWorkload.entries[3].name): after "))
    }

    private struct Shortcut: CalendarSubject {
        let name = "shortcut"

        func occurrences(of workload: CalendarWorkload) throws -> [[[Timestamp]]] {
            try CalendarFunction.carillon.occurrences(of: workload)
        }

        func run(_ workload: CalendarWorkload, seconds: Double) throws -> CalendarPasses {
            CalendarPasses(passes: 2, seconds: 1, sum: workload.sum)
        }
    }

    @Test("a subject that computes less when it is measured fails the benchmark")
    func lessWork() throws {
        let benchmark = try Self.benchmark(CalendarWorkload(starts: 2, length: 2))
        #expect(throws: BenchmarkError.self) { try benchmark.run([Shortcut()]) }
    }
}
