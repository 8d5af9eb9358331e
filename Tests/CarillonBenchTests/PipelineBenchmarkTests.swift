import ArgumentParser
import NotificationModel
import Testing

@testable import CarillonBench

/// The input of `carillon-bench pipeline`.
@Suite("The requests of the pipeline")
struct PipelineBenchmarkTests {
    @Test("have traces of which the given share is sampled, the same in every run")
    func sampled() {
        for (share, expected) in [(1.0, 10_000...10_000), (0.25, 2_300...2_700), (0.01, 60...140)] {
            var requests = RequestWorkload(records: 10_000, partitions: 8)
            requests.sampled = share
            let traces = (0..<requests.records).map { requests.trace(of: $0) }
            #expect(!traces.contains(nil) && traces == (0..<requests.records).map { requests.trace(of: $0) })
            #expect(expected.contains(traces.count { $0?.sampled != nil }), "\(share)")
        }
    }

    @Test(
        "a share of traces is above 0 and at most 1, without devices",
        arguments: [
            ["--tracing", "0"], ["--tracing", "1.5"], ["--tracing", "nan"], ["--tracing", "0.1", "--devices", "1"],
        ]
    )
    func refused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try PipelineCommand.parse(arguments) }
    }
}
