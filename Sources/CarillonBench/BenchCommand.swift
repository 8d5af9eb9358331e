public import ArgumentParser

/// `carillon-bench`: the benchmarks, and the comparison of their results.
public struct BenchCommand: AsyncParsableCommand {
    /// Name, help and subcommands.
    public static let configuration = CommandConfiguration(
        commandName: "carillon-bench",
        abstract: "Measure Carillon on the embedded broker, beside other programs that do the same work.",
        discussion: """
            Build with -c release. Ratios of programs that ran one after the other on the same input can be compared \
            between machines and days; rates and times cannot. deploy/bench installs the other programs, builds, and \
            runs this program.

            Examples:
              carillon-bench pipeline --rounds 5
              carillon-bench pipeline --json >>runs.jsonl   keep a result
              carillon-bench compare runs.jsonl             is it worse than the baseline?
              carillon-bench baseline runs.jsonl            make it the baseline
              carillon-bench builds old.jsonl new.jsonl     what has changed between two builds?

            Exit status:
              0    done
              1    the benchmark failed, or a ratio is worse than the baseline allows
              64   invalid usage
              130  ended by Ctrl-C; 143 by SIGTERM
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Benchmark",
                subcommands: [
                    PipelineCommand.self, IngestCommand.self, TimersCommand.self, DeviationCommand.self,
                    RestoreCommand.self, StoreCommand.self, CalendarCommand.self, LocationCommand.self,
                    RecipientCommand.self, OperationsCommand.self,
                    WebhookCommand.self, APNsCommand.self, FCMCommand.self, WebPushCommand.self, EnrichmentCommand.self,
                    BareRouteCommand.self,
                    ImageServerCommand.self, PushServerCommand.self,
                ]
            ),
            CommandGroup(name: "Result", subcommands: [CompareCommand.self, BaselineCommand.self, BuildsCommand.self]),
        ]
    )

    /// For the parser.
    public init() {}
}
