import Kafka
import NotificationModel

/// `carillon-bench pipeline --devices`: the consumer service without and with devices of the recipients, in turn, and
/// the responses to what it delivered.
struct DevicesBenchmark {
    struct Result: Sendable {
        var without: ProgramRate
        var with: ProgramRate
        var responses: ProgramRate
        /// Of the changelog, compacted.
        var stateBytesPerDevice: Double
    }

    var workload: DeviceWorkload
    /// Number of runs of each; the median counts.
    var rounds: Int
    var workbench: Workbench

    /// - Throws: ``BenchmarkError`` when the service loses something, or delivers without the devices.
    func run() throws -> Result {
        let plain = DeviceWorkload(requests: workload.requests, devices: 0)
        var (without, with, responses): ([ProgramRate], [ProgramRate], [ProgramRate]) = ([], [], [])
        var bytes: Double?
        for round in 1...rounds {
            workbench.report("without devices, round \(round) of \(rounds): \(workload.requests.records) requests")
            without.append(try DevicesSession.with(plain, on: workbench) { try $0.requests() })
            workbench.report("\(workload.devices) devices of each of \(workload.recipients) recipients")
            try DevicesSession.with(workload, on: workbench) { session in
                if bytes == nil { bytes = try session.stateBytesPerDevice() }
                with.append(try session.requests())
                responses.append(try session.responses())
            }
        }
        guard let without = ProgramRate(medianOf: without), let with = ProgramRate(medianOf: with),
            let responses = ProgramRate(medianOf: responses), let bytes
        else { throw BenchmarkError("no rounds") }
        return Result(without: without, with: with, responses: responses, stateBytesPerDevice: bytes)
    }

    // MARK: - The report

    static func name(of workload: DeviceWorkload) -> String {
        "\(workload.requests.name), \(workload.devices) devices each"
    }

    static func workload(of result: Result, _ workload: DeviceWorkload, rounds: Int) -> Workload {
        let requests = workload.requests
        var report = Workload(
            name: name(of: workload) + Programs.build,
            figures: [
                Figure("records", given: requests.records), Figure("partitions", given: requests.partitions),
                Figure("devices", given: workload.devices), Figure("rounds", given: rounds),
                Figure("state_bytes_per_device", "bytes of state a device", result.stateBytesPerDevice, as: .whole),
            ],
            subjects: [
                FigureRow("without_devices", title: "requests without devices", result.without.figures),
                FigureRow("with_devices", title: "requests with devices", result.with.figures),
                FigureRow("responses", result.responses.figures),
            ]
        )
        report.ratios.set(
            .cpuVersusWithoutDevices,
            result.with.cpuSecondsPerMillion,
            over: result.without.cpuSecondsPerMillion
        )
        report.ratios.set(
            .responsesVersusPipeline,
            result.responses.messagesPerSecond,
            over: result.with.messagesPerSecond
        )
        return report
    }
}

/// The consumer service with a broker of its own, once it has read and kept the devices of a workload.
private struct DevicesSession {
    private static let patience = Duration.seconds(600)

    let workload: DeviceWorkload
    let broker: BenchmarkBroker
    let process: SubjectProcess

    static func with<Result>(
        _ workload: DeviceWorkload,
        on workbench: Workbench,
        _ body: (DevicesSession) throws -> Result
    ) throws -> Result {
        try BenchmarkBroker.with(partitions: workload.requests.partitions, logger: workbench.logger) { broker in
            try workload.register(on: broker)
            let port = try FreePort.find()
            let properties = PipelineBenchmark.properties
                .merging(SubjectProcess.properties(pausedFor: workload.requests.records)) { $1 }
            let process = try Subject.carillon().adding { _ in ["CARILLON_OPS_PORT": "\(port)"] }
                .start(broker.work(properties: properties), on: workbench)
            defer { process.stop() }
            let partitions = Double(broker.partitions)
            let categories = workload.devices > 0 ? 1.0 : 0
            // A record of each recipient, and one of each token.
            let recipients = workload.devices > 0 ? Double(workload.recipients * (1 + workload.devices)) : 0
            try ServiceMetrics.wait(for: "ready", of: process, port: port, within: patience) { metrics in
                metrics["carillon_assigned_partitions"] == partitions && metrics["carillon_categories"] == categories
                    && metrics["carillon_center_recipients"] == recipients
                    && metrics["carillon_outstanding_records"] == 0
            }
            return try body(DevicesSession(workload: workload, broker: broker, process: process))
        }
    }

    /// From requests to delivery events.
    func requests() throws -> ProgramRate {
        let starts = try TopicBounds(of: broker.topics.deliveries, on: broker).highs
        let rate = try measure(broker.topics.deliveries, from: starts) { try workload.requests.fill(broker) }
        var check = try DeliveredDevicesCheck(of: workload)
        try TopicBounds(of: broker.topics.deliveries, on: broker).read(from: starts) { message in
            try check.check(message.value() ?? [], type: message.headerValue("ce_type") ?? [])
        }
        try check.requireAll()
        return rate
    }

    /// From signals to events on `responses`, after ``requests()``.
    func responses() throws -> ProgramRate {
        let starts = [Int64](repeating: 0, count: Int(broker.partitions))
        let rate = try measure(broker.topics.responses, from: starts) { try workload.respond(on: broker) }
        var answered: Set<RequestID> = []
        try TopicBounds(of: broker.topics.responses, on: broker).read { message in
            let event = try ResponseEvent(json: message.value() ?? [])
            guard event.matched else { throw BenchmarkError("a response to what was delivered was not matched") }
            guard answered.insert(event.responseID).inserted else { throw BenchmarkError("a response came out twice") }
        }
        guard answered.count == workload.recipients else {
            throw BenchmarkError("\(answered.count) of \(workload.recipients) responses came out")
        }
        return rate
    }

    /// Before any request.
    func stateBytesPerDevice() throws -> Double {
        var state = DeviceState()
        try TopicBounds(of: broker.topics.state, on: broker).read { message in
            state.note(message.key() ?? [], message.value())
        }
        return try state.bytesPerDevice(of: workload)
    }

    /// Publishes while the service is paused, so that it finds everything, and measures it from then on.
    ///
    /// - Parameters:
    ///   - topic: which it writes.
    ///   - starts: the ends of the topic's partitions.
    ///   - publish: returns how many records each partition has.
    private func measure(_ topic: String, from starts: [Int64], _ publish: () throws -> [Int]) throws -> ProgramRate {
        process.pause()
        let rate = TopicRate(topic: topic, expected: try publish(), starts: starts)
        return try rate.measure(process, name: "carillon", on: broker)
    }
}
