public import ArgumentParser

/// `carillon bench`: what is measured, beside what others would do.
public struct BenchCommand: AsyncParsableCommand {
    /// Name, help and subcommands.
    public static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure Carillon on the embedded broker, beside other programs that do the same work.",
        discussion: """
            Figures of a machine say little; ratios of programs that ran one after the other on the same input say more. \
            Build with -c release. What runs beside Carillon is found next to this executable, or installed when it is \
            asked for: Python's packages into a virtual environment of their own.
            """,
        subcommands: [
            PipelineBenchCommand.self, IngestBenchCommand.self, StoreBenchCommand.self, TimersBenchCommand.self,
            DeviationBenchCommand.self, RestoreBenchCommand.self, BareRouteCommand.self,
        ]
    )

    /// As the parser makes it.
    public init() {}
}
