/// What `carillon bench ingest` prints.
struct IngestReport: Encodable {
    struct Ratios: Encodable {
        var putsVersusBareRoute: Double
        var eventsVersusPipeline: Double

        enum CodingKeys: String, CodingKey {
            case putsVersusBareRoute = "puts_vs_bare_route"
            case eventsVersusPipeline = "events_vs_pipeline"
        }
    }

    var benchmark = "ingest"
    /// Calls that the broker acknowledged.
    var putsPerSecond: Double
    var bareRoutePerSecond: Double
    /// Business events and the pipeline.
    var subjects: [SubjectResult]
    var ratios: Ratios

    enum CodingKeys: String, CodingKey {
        case benchmark, subjects, ratios
        case putsPerSecond = "puts_per_second"
        case bareRoutePerSecond = "bare_route_per_second"
    }

    init(calls: CallsBenchmark.Result, events: [SubjectResult]) {
        func median(_ values: [Double]) -> Double { values.sorted()[(values.count - 1) / 2] }
        putsPerSecond = median(calls.service)
        bareRoutePerSecond = median(calls.bare)
        subjects = events
        ratios = Ratios(
            putsVersusBareRoute: putsPerSecond / bareRoutePerSecond,
            eventsVersusPipeline: events[0].messagesPerSecond / events[1].messagesPerSecond
        )
    }

    var table: String {
        TextTable.text(
            [
                ["", "a second", "CPU s/million", "peak MiB"],
                ["PUT, acknowledged by the broker", "\(Int(putsPerSecond))"],
                ["PUT, bare Hummingbird route", "\(Int(bareRoutePerSecond))"],
            ]
                + subjects.map { subject in
                    [
                        subject.name == "pipeline" ? "requests to delivery events" : "business events to requests",
                        "\(Int(subject.messagesPerSecond))", PipelineReport.decimals(subject.cpuSecondsPerMillion),
                        "\(subject.peakResidentBytes >> 20)",
                    ]
                }
        )
            + "\nPUTs, times the bare route: \(PipelineReport.decimals(ratios.putsVersusBareRoute))"
            + "\nbusiness events, times the pipeline: \(PipelineReport.decimals(ratios.eventsVersusPipeline))"
    }
}
