import ArgumentParser
import Foundation
import Testing

@testable import CarillonBench

@Suite("The benchmark of a recipient with many entries")
struct RecipientBenchmarkTests {
    @Test("it measures every operation, with the store in memory and on disk")
    func measures() throws {
        let command = try RecipientCommand.parse(["--entries", "120", "--operations", "3"])
        let workbench = try Workbench(in: nil)
        defer { workbench.clear() }
        let report = try command.measure(on: workbench)
        #expect(report.workloads.map { $0.name.contains("memory") } == [true, false])
        for workload in report.workloads {
            #expect(workload.parts.count == 6 && workload.ratios.count == 5, "\(workload.name)")
            for part in workload.parts {
                #expect(
                    part.figures.map(\.name) == ["of_10", "of_120"] && part.figures.allSatisfy { $0.value > 0 },
                    "\(part)"
                )
            }
        }
    }
}
