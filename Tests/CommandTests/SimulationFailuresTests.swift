import CarillonSimulation
import Testing

@testable import carillon

@Suite("Failures of the simulation")
struct SimulationFailuresTests {
    @Test func `seeds are listed by rule, the most frequent first, each with a command for its first seed`() throws {
        var failures = SimulationFailures()
        #expect(failures.isEmpty && failures.text { "\($0)" } == "")
        for (rule, detail, seed) in [
            (.badge, "phone has 3", 7), (.oneClosing, "r1 has two", 12), (.badge, "phone has 4", 40),
        ] as [(Violation.Rule, String, UInt64)] {
            failures.add(Violation(rule, detail), of: seed)
        }
        #expect(failures.count == 3 && !failures.isEmpty)
        #expect(
            failures.text { "run \($0)" } == """
                broken 2 times: \(Violation.Rule.badge.rawValue)
                  seeds   7 40
                  phone has 3
                  again   run 7
                broken once: \(Violation.Rule.oneClosing.rawValue)
                  seeds   12
                  r1 has two
                  again   run 12

                """
        )
    }
}
