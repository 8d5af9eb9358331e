import Kafka
import NotificationModel

/// Runs the programs one after the other on the same input, each on its own embedded broker in this process.
struct PipelineBenchmark {
    var requests: RequestWorkload
    /// Number of runs; the median counts.
    var rounds: Int
    var workbench: Workbench
    /// Header fields of events that may differ between programs and runs.
    var differing: Set<String> = ["ce_time"]

    static let properties = [
        // The embedded broker keeps 5 MiB per partition as sent, and does not wake a waiting fetch.
        "compression.type": "lz4",
        "fetch.wait.max.ms": "10",
        // Enough read-ahead for the one working thread.
        "queued.min.messages": "1000000",
        "queued.max.messages.kbytes": "1048576",
    ]

    /// - Returns: The median of each program, in their order.
    /// - Throws: ``BenchmarkError`` when a program fails, or produces other events than the first.
    func run(_ subjects: [Subject]) throws -> [(name: String, rate: ProgramRate)] {
        var runs: [String: [ProgramRate]] = [:]
        var reference: (name: String, check: DeliveryCheck)?
        for round in 1...rounds {
            for subject in subjects where round == 1 || !subject.runsOnce {
                workbench.report("\(subject.name), round \(round) of \(rounds): \(requests.records) requests")
                let (rate, check) = try measure(subject)
                runs[subject.name, default: []].append(rate)
                guard let first = reference else {
                    reference = (subject.name, check)
                    continue
                }
                guard check == first.check else {
                    throw BenchmarkError("\(subject.name) produced other events than \(first.name) from equal input")
                }
            }
        }
        return subjects.compactMap { subject in
            ProgramRate(medianOf: runs[subject.name] ?? []).map { (subject.name, $0) }
        }
    }

    private func measure(_ subject: Subject) throws -> (ProgramRate, DeliveryCheck) {
        try BenchmarkBroker.with(partitions: requests.partitions, logger: workbench.logger) { broker in
            let expected = try requests.fill(broker)
            let work = broker.work(records: requests.records, properties: Self.properties)
            let process = try subject.start(work, on: workbench)
            defer { process.stop() }
            let rate = try TopicRate(topic: broker.topics.deliveries, expected: expected)
                .measure(process, name: subject.name, on: broker)
            // Reading takes CPU time that the program should not compete for.
            process.stop()
            return (rate, try DeliveryCheck(of: broker, expected: expected, but: differing))
        }
    }

    // MARK: - The report

    static func workload(
        of rates: [(name: String, rate: ProgramRate)],
        _ requests: RequestWorkload,
        rounds: Int
    ) -> Workload {
        var workload = Workload(
            name: requests.name + Programs.build,
            figures: [
                Figure("records", given: requests.records), Figure("partitions", given: requests.partitions),
                Figure("rounds", given: rounds),
            ],
            subjects: rates.map { FigureRow($0.name, $0.rate.figures) }
        )
        func rate(_ name: String) -> Double? { rates.first { $0.name == name }?.rate.messagesPerSecond }
        func cpu(_ name: String) -> Double? { rates.first { $0.name == name }?.rate.cpuSecondsPerMillion }
        workload.ratios.set(.throughputVersusQuixStreams, rate("carillon"), over: rate("quixstreams"))
        workload.ratios.set(.throughputVersusPython, rate("carillon"), over: rate("python"))
        workload.ratios.set(.cpuVersusNative, cpu("carillon"), over: cpu("native"))
        workload.ratios.set(.cpuVersusNativeJemalloc, cpu("carillon-jemalloc"), over: cpu("native-jemalloc"))
        workload.ratios.set(.cpuOfTracing, cpu("traced"), over: cpu("carillon"))
        workload.ratios.set(.cpuOfDisk, cpu("disk"), over: cpu("carillon"))
        return workload
    }
}

/// The delivery events of a program, independent of the order between partitions: equal checks mean that two programs
/// did the same work.
private struct DeliveryCheck: Equatable, Sendable {
    var records = 0
    /// The sum of a hash of each record's partition, key, value and headers, but those that may differ.
    var digest: UInt64 = 0

    /// Reads the whole topic; blocking.
    ///
    /// - Parameters:
    ///   - expected: The expected number of records of each partition.
    ///   - differing: Header fields that do not count.
    /// - Throws: ``BenchmarkError`` when the broker has dropped records, or there are too few or too many.
    init(of broker: BenchmarkBroker, expected: [Int], but differing: Set<String>) throws {
        let bounds = try TopicBounds(of: broker.topics.deliveries, on: broker)
        for (partition, count) in expected.enumerated() where bounds.highs[partition] != Int64(count) {
            throw BenchmarkError("partition \(partition) has \(bounds.highs[partition]) events for \(count) requests")
        }
        try bounds.read { message in
            var hash = FNV1a()
            hash.combine(UInt64(message.partition))
            hash.combine(message.key() ?? [])
            hash.combine(message.value() ?? [])
            for header in message.headers() where !differing.contains(header.name) {
                hash.combine(Array(header.name.utf8))
                hash.combine(header.value ?? [])
            }
            digest &+= hash.value
            records += 1
        }
    }
}

/// The 64-bit FNV-1a hash; the length of each piece follows it.
private struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ bytes: [UInt8]) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        combine(UInt64(bytes.count))
    }

    mutating func combine(_ number: UInt64) {
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            value = (value ^ (number >> shift & 0xFF)) &* 0x100_0000_01B3
        }
    }
}
