import ArgumentParser
import Foundation
import NotificationModel
import NotificationProducer
import ServiceSupport

/// `carillon rules check`: validates a rule file as the producer service does, and previews its effect on events.
struct RulesCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a rule file, and preview its effect on events.",
        discussion: """
            Without an event it lists the rules, or every problem of the file with its line. With an event it shows \
            each request and removal that would be published, or why there is none. It does not connect to Kafka.

            Events with the same key take effect in order. The key is the extension partitionkey, else the subject, \
            else the source. Without an event, notes list the types for which this matters, because one cancels what \
            the other requests. With several events, their keys are compared, and a warning names the events that can \
            overtake others.

            Warnings name what a file may say and probably does not mean, such as a rule's event with a '*'.

            The status is 0 without problems, also when no rule's condition holds or the event is ignored; 1 when the file has problems, or \
            when an event would go to dead letters; 66 when a file cannot be read.

            Examples:

              carillon rules check rules.yaml
              carillon rules check rules.yaml --event shipped.json --event cancelled.json
              jq .[0] events.json | carillon rules check rules.yaml --event -
            """
    )

    @Argument(help: "The YAML file of rules.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(
        help: ArgumentHelp(
            "A structured CloudEvent in JSON; - is standard input. Repeatable, in the order of sending.",
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var event: [String] = []

    @Option(
        help: ArgumentHelp(
            "Application of rules without one. Default: CARILLON_APPLICATION_DEFAULT, else application.default of --config.",
            valueName: "name"
        )
    )
    var application: String?

    @Option(
        help: ArgumentHelp("The settings file of the producer service.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var config: String?

    @Flag(help: "JSON for programs: one object, or one line per event.")
    var json = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard event.filter({ $0 == "-" }).count < 2 else {
            throw ValidationError("--event: standard input can contain one event only")
        }
        if let application { try Self.check(application) { ValidationError("--application: \($0)") } }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon rules check") { try check() }
    }

    private func check() throws {
        let report = RulesReport(file: file)
        let rules: RulePreview
        do {
            let (application, unmatched) = try settings()
            rules = try RulePreview(file: file, defaultApplication: application, unmatched: unmatched)
        } catch let error as RuleFileError {
            guard !error.isUnreadable else { throw CommandFailure("\(error)", status: ExitStatus.noInput) }
            if json { Terminal.write(json: report.json(of: error)) } else { Terminal.writeError("\(error)\n") }
            throw ExitCode(ExitStatus.failed)
        }
        guard !event.isEmpty else {
            let (list, notes, warnings) = (rules.rules, rules.overtakings, rules.warnings)
            if json {
                Terminal.write(json: report.json(of: list, notes, warnings))
            } else {
                Terminal.write(report.text(of: list, notes, warnings))
            }
            return
        }
        Terminal.writeError(report.text(of: rules.warnings))
        var results: [RulesReport.Checked] = []
        for path in event {
            let checked = RulesReport.Checked(
                name: event.count == 1 ? nil : path,
                result: rules.apply(toStructured: try InputFile.read(path, upTo: ModelLimits.businessEventBytes)),
                earlier: results
            )
            results.append(checked)
            if json { Terminal.write(json: report.json(of: checked)) } else { Terminal.write(report.text(of: checked)) }
        }
        if results.contains(where: { !$0.result.failures.isEmpty }) { throw ExitCode(ExitStatus.failed) }
    }

    /// The default application, and what happens to other events, as the producer service would determine them.
    private func settings() throws -> (application: String, unmatched: UnmatchedEvents) {
        let variables = ["CARILLON_APPLICATION_DEFAULT", "CARILLON_RULES_UNMATCHED"]
        let given = ProcessInfo.processInfo.environment.filter { variables.contains($0.key) }
        var settings: ServiceSettings
        do {
            settings = try ServiceSettings(environment: given, file: config)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.noInput)
        }
        let key = "application.default"
        let unmatched = UnmatchedEvents(settings: &settings)
        let named = settings.string(key, default: "default")
        do {
            // The other settings of the file do not matter here.
            try settings.finish(sections: ["rules.unmatched"])
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.usage)
        }
        if let application { return (application, unmatched) }
        try Self.check(named) { CommandFailure("\(key): \($0)", status: ExitStatus.usage) }
        return (named, unmatched)
    }

    private static func check(_ application: String, _ failure: (String) -> any Error) throws {
        do throws(ModelError) {
            _ = try NotificationKey(application: application, recipient: "r", identifier: "i")
        } catch {
            throw failure(error.detail)
        }
    }
}
