import ArgumentParser
import Foundation
import Kafka
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

    @Test("become events whose ids the programs in Python derive as the service does")
    func ids() throws {
        let requests = RequestWorkload(records: 3, partitions: 1)
        let folder = try Programs.resource("delivery_event.py").deletingLastPathComponent().path
        let program = """
            import sys
            sys.path.insert(0, sys.argv[1])
            sys.dont_write_bytecode = True
            from delivery_event import event_id
            print(event_id(sys.argv[2], sys.argv[3].encode()), end="")
            """
        for index in 0..<requests.records {
            let (id, key) = (try requests.requestID(of: index), try requests.key(of: index))
            let (output, status) = try Workbench(in: nil).run(
                URL(fileURLWithPath: "/usr/bin/env"),
                ["python3", "-c", program, folder, "\(id)", String(decoding: key.encoded, as: UTF8.self)]
            )
            let event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: true)
            #expect(status == 0 && String(decoding: output, as: UTF8.self) == "\(event.eventID)")
        }
    }

    @Test("are refused at once when the embedded broker does not keep all of them")
    func tooMany() async throws {
        let requests = RequestWorkload(records: 100_000, partitions: 1)
        try await KafkaThread.run(name: "benchmark") { () throws in
            try BenchmarkBroker.with(partitions: 1, logger: Workbench(in: nil).logger) { broker in
                let error = #expect(throws: BenchmarkError.self) { try requests.fill(broker) }
                #expect(error?.description.contains("dropped") == true)
            }
        }
    }

    @Test("name a thread, unless the command line says otherwise", arguments: [true, false])
    func thread(_ isNamed: Bool) throws {
        let command = try PipelineCommand.parse(isNamed ? [] : ["--no-thread"])
        #expect(command.requests.count == 2)
        for requests in command.requests {
            let text = String(decoding: requests.value(of: 0), as: UTF8.self)
            #expect(text.contains(#""threadIdentifier":"orders""#) == isNamed)
            #expect(text.contains(#""categoryIdentifier":"ORDER","interruptionLevel""#) != isNamed)
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
