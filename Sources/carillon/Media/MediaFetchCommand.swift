import ArgumentParser
import Foundation
import Kafka
import NotificationEnrichment
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// `carillon media fetch`: fetches media as the consumer service does, and explains each step.
struct MediaFetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch media as the consumer service does, and explain each step.",
        discussion: """
            For each URL it shows the addresses, redirects, answers and checks, and then the type, the dimensions and \
            the digest of the medium, or the reason code of its refusal. The settings egress.* and media.* are those of \
            the consumer service: CARILLON_ variables and --config. Others are ignored.

            Without a URL it reads standard input, one URL a line: as text, as a JSON string, or as \
            {"url":"…","typeHint":"public.png"}. The reports are in the order of the lines. A line that is invalid is \
            reported with its number, and the others are fetched.

            The media go to the directory of --output, else to that of media.directory. Without both they are removed at \
            the end.

            The status is 1 when a medium is refused, else 69 when no server answered in time, else 65 when a line is \
            invalid.

            Examples:

              carillon media fetch https://cdn.example.com/order.png --type-hint public.png
              carillon media fetch http://localhost:8000/a.png --output media \\
                --internal-origin http://localhost:8000
              carillon media fetch --json --config carillon.yaml < urls.jsonl
            """
    )

    @Argument(help: ArgumentHelp("What to fetch; none, or -, for lines of standard input.", valueName: "url"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp("The uniform type identifier of media without one, such as public.jpeg.", valueName: "uti")
    )
    var typeHint: String?

    @Option(
        help: ArgumentHelp(
            "An origin whose host and addresses are not judged, besides those of egress.internal-origins; repeatable.",
            valueName: "origin"
        )
    )
    var internalOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long a download may take: seconds, or a time such as 500ms. Default: media.timeout.",
            valueName: "time"
        )
    )
    var timeout: SpanArgument?

    @Option(
        help: ArgumentHelp(
            "Keep the media in this directory, instead of that of media.directory.",
            valueName: "directory"
        ),
        completion: .directory
    )
    var output: String?

    @Option(help: ArgumentHelp("Downloads at one time.", valueName: "n"))
    var concurrency = 8

    @Option(
        help: ArgumentHelp("The settings file of the consumer service.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var config: String?

    @Flag(help: "Write one JSON object a line.")
    var json = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard !urls.contains("-") || urls.count == 1 else {
            throw ValidationError("- stands for standard input: give it alone, or URLs")
        }
        guard (1...64).contains(concurrency) else { throw ValidationError("--concurrency takes 1 to 64") }
        if let timeout, !(.milliseconds(10) ... .seconds(600)).contains(timeout.duration) {
            throw ValidationError("--timeout must be from 10ms to 10m")
        }
        guard output?.isEmpty != true else { throw ValidationError("--output needs a directory") }
        do throws(EgressPolicyError) {
            _ = try EgressPolicy(internalOrigins: internalOrigin)
        } catch {
            throw ValidationError("--internal-origin: \(error.entry): \(error.message)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon media fetch") {
            let settings = try settings(environment: ProcessInfo.processInfo.environment)
            let outcome = try await Interruption.watched {
                try await fetch(settings) { bytes throws(CommandFailure) in try Terminal.writeIfRead(escaped: bytes) }
            }
            if let signal = outcome.signal { throw ExitCode(ExitStatus.ended(by: signal)) }
            guard outcome.result.status == 0 else { throw ExitCode(outcome.result.status) }
        }
    }

    /// - Parameters:
    ///   - environment: The process environment.
    /// - Returns: The settings of the service, and over them the options.
    /// - Throws: ``CommandFailure``.
    func settings(environment: [String: String]) throws(CommandFailure) -> MediaFetching.Settings {
        var given: ServiceSettings
        do throws(ServiceSettingsError) {
            given = try ServiceSettings(environment: environment, file: config)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.noInput)
        }
        var settings = MediaFetching.Settings(
            egress: EgressConfiguration(settings: &given),
            media: MediaConfiguration(settings: &given)
        )
        do throws(ServiceSettingsError) {
            // The others do not matter, whatever they say.
            try given.finish(sections: ["egress", "media"])
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.settings)
        }
        settings.egress.internalOrigins += internalOrigin
        settings.media.timeout = timeout?.duration ?? settings.media.timeout
        settings.media.directory = output ?? settings.media.directory
        settings.typeHint = typeHint
        settings.concurrency = concurrency
        return settings
    }

    /// Fetches the arguments, or the lines of the input.
    ///
    /// - Parameters:
    ///   - settings: With the options.
    ///   - input: The path of the lines; nil for standard input.
    ///   - write: Gets each report, escaped; false when nobody reads it.
    /// - Throws: ``CommandFailure``.
    func fetch(
        _ settings: MediaFetching.Settings,
        input: String? = nil,
        write: @Sendable ([UInt8]) throws(CommandFailure) -> Bool
    ) async throws -> MediaSummary {
        let lines = urls.isEmpty || urls == ["-"] ? try MediaLines(path: input) : nil
        let arguments = MediaBatch(items: urls.map { MediaItem(url: $0) }, isLast: true)
        let fetching = try await KafkaThread.run(name: "media store") { try MediaFetching(settings) }
        var summary = MediaSummary()
        let result: Result<Void, any Error>
        do {
            // A slow medium holds back the reports on those after it, but not their downloads.
            try await OrderedReports(concurrency: concurrency, waiting: 64 * concurrency).run(
                next: { count in
                    guard let lines else { return arguments }
                    return try await KafkaThread.run(name: "media lines") {
                        try lines.next(atMost: count, within: .milliseconds(200))
                    }
                },
                report: { await fetching.report(on: $0) },
                take: { report in
                    summary.add(report.outcome)
                    return try write(json ? PrintableText.escaped(json: report.json) : Array(report.text.utf8))
                }
            )
            result = .success(())
        } catch {
            result = .failure(error)
        }
        _ = try? await KafkaThread.run(name: "media store") { fetching.close() }
        try result.get()
        return summary
    }
}
