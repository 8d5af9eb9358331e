/// What was measured of one program.
struct SubjectResult: Sendable, Codable {
    var name: String
    var messagesPerSecond: Double
    /// User and system time of all its threads.
    var cpuSecondsPerMillion: Double
    var peakResidentBytes: Int

    enum CodingKeys: String, CodingKey {
        case name
        case messagesPerSecond = "messages_per_second"
        case cpuSecondsPerMillion = "cpu_seconds_per_million"
        case peakResidentBytes = "peak_resident_bytes"
    }
}

extension SubjectResult {
    /// The median of each figure; for an even number of runs the lower of the two in the middle.
    init(median runs: [SubjectResult], name: String) {
        func median<Value: Comparable>(_ figure: (SubjectResult) -> Value) -> Value? {
            let sorted = runs.map(figure).sorted()
            return sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
        }
        self.init(
            name: name,
            messagesPerSecond: median(\.messagesPerSecond) ?? 0,
            cpuSecondsPerMillion: median(\.cpuSecondsPerMillion) ?? 0,
            peakResidentBytes: median(\.peakResidentBytes) ?? 0
        )
    }
}
