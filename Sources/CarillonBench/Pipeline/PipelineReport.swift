/// What `carillon bench pipeline` prints.
struct PipelineReport: Encodable {
    struct Ratios: Encodable {
        var throughputVersusQuixStreams: Double?
        var throughputVersusPython: Double?
        var cpuVersusNative: Double?
        /// Both with jemalloc.
        var cpuVersusNativeJemalloc: Double?
        /// With the store on disk, times in memory.
        var cpuOfDisk: Double?

        enum CodingKeys: String, CodingKey {
            case throughputVersusQuixStreams = "throughput_vs_quixstreams"
            case throughputVersusPython = "throughput_vs_python"
            case cpuVersusNative = "cpu_vs_native"
            case cpuVersusNativeJemalloc = "cpu_vs_native_jemalloc"
            case cpuOfDisk = "cpu_disk_vs_memory"
        }

        init(_ results: [SubjectResult]) {
            func ratio(_ one: String, _ other: String, _ figure: (SubjectResult) -> Double) -> Double? {
                guard let one = results.first(where: { $0.name == one }),
                    let other = results.first(where: { $0.name == other }), figure(other) > 0
                else { return nil }
                return figure(one) / figure(other)
            }
            throughputVersusQuixStreams = ratio("carillon", "quixstreams", \.messagesPerSecond)
            throughputVersusPython = ratio("carillon", "python", \.messagesPerSecond)
            cpuVersusNative = ratio("carillon", "native", \.cpuSecondsPerMillion)
            cpuVersusNativeJemalloc = ratio("carillon-jemalloc", "native-jemalloc", \.cpuSecondsPerMillion)
            cpuOfDisk = ratio("disk", "carillon", \.cpuSecondsPerMillion)
        }
    }

    struct Workload: Encodable {
        var records: Int
        var partitions: Int32
        var rounds: Int
        var subjects: [SubjectResult]
        var ratios: Ratios
    }

    var benchmark = "pipeline"
    /// Those of the last workload.
    var subjects: [SubjectResult]
    var ratios: Ratios
    var workloads: [Workload]
    var latency: LatencyResult?

    enum CodingKeys: String, CodingKey {
        case benchmark, subjects, ratios, workloads
        case latency = "latency_ms"
    }

    init(workloads: [Workload], latency: LatencyResult?) {
        self.workloads = workloads
        self.latency = latency
        subjects = workloads.last?.subjects ?? []
        ratios = Ratios(subjects)
    }

    var table: String {
        var parts = workloads.map { workload in
            "\(workload.records) requests over \(workload.partitions) partitions, median of \(workload.rounds)\n"
                + TextTable.text(
                    [["", "messages/s", "CPU s/million", "peak MiB"]]
                        + workload.subjects.map { subject in
                            [
                                subject.name, "\(Int(subject.messagesPerSecond))",
                                Self.decimals(subject.cpuSecondsPerMillion), "\(subject.peakResidentBytes >> 20)",
                            ]
                        }
                ) + "\n" + workload.ratios.lines.joined(separator: "\n")
        }
        if let latency { parts.append(latency.line) }
        return parts.joined(separator: "\n\n")
    }

    static func decimals(_ number: Double) -> String {
        let hundredths = Int((number * 100).rounded())
        return "\(hundredths / 100).\(RequestWorkload.digits(hundredths % 100, 2))"
    }
}

extension PipelineReport.Ratios {
    fileprivate var lines: [String] {
        [
            ("throughput, times Quix Streams", throughputVersusQuixStreams),
            ("throughput, times the Python loop", throughputVersusPython),
            ("CPU per record, times the C++ program", cpuVersusNative),
            ("CPU per record, times the C++ program, both with jemalloc", cpuVersusNativeJemalloc),
            ("CPU per record with the store on disk, times in memory", cpuOfDisk),
        ].compactMap { text, ratio in ratio.map { "\(text): \(PipelineReport.decimals($0))" } }
    }
}
