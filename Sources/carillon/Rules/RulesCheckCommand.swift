import ArgumentParser
import Foundation
import NotificationModel
import NotificationProducer

/// `carillon rules check`: a file of rules as the producer service would read it, and what it makes of an event.
struct RulesCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a file of rules, and see what becomes of an event.",
        discussion: """
            Without an event it lists the rules, or every problem of the file with its line. With one it shows each request and \
            removal that would be published, or why there is none. Nothing is connected and nothing is sent.

            The status is 0 when all is well, also when no rule's condition holds; 1 when the file has problems, or when the event \
            would go to dead letters.

            Examples:

              carillon rules check rules.yaml
              carillon rules check rules.yaml --event event.json
              jq .[0] events.json | carillon rules check rules.yaml --event -
            """
    )

    @Argument(help: "The YAML file of rules.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(
        help: ArgumentHelp("A structured CloudEvent in JSON; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var event: String?

    @Option(
        help: ArgumentHelp(
            "For rules that name no application, as the setting application.default.",
            valueName: "name"
        )
    )
    var application = "default"

    @Flag(help: "One JSON object, for programs.")
    var json = false

    func validate() throws {
        do throws(ModelError) {
            _ = try NotificationKey(application: application, recipient: "r", identifier: "i")
        } catch {
            throw ValidationError("--application: \(error.detail)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon rules check") { try check() }
    }

    private func check() throws {
        let report = RulesReport(file: file)
        let rules: RulePreview
        do throws(RuleFileError) {
            rules = try RulePreview(file: file, defaultApplication: application)
        } catch {
            if json { Terminal.write(report.json(of: error)) } else { Terminal.writeError("\(error)\n") }
            throw ExitCode(ExitStatus.failed)
        }
        guard let event else {
            Terminal.write(json ? report.json(of: rules.rules) : Array(report.text(of: rules.rules).utf8))
            return
        }
        let result = rules.apply(toStructured: try Self.read(event))
        Terminal.write(json ? report.json(of: result) : Array(report.text(of: result).utf8))
        if !result.failures.isEmpty { throw ExitCode(ExitStatus.failed) }
    }

    /// One byte more than an event may have, so that the model sees that it is too large.
    private static func read(_ path: String) throws -> [UInt8] {
        do {
            let input =
                path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var bytes: [UInt8] = []
            while bytes.count <= ModelLimits.businessEventBytes,
                let more = try input.read(upToCount: ModelLimits.businessEventBytes + 1 - bytes.count), !more.isEmpty
            {
                bytes += more
            }
            return bytes
        } catch {
            let isThere = path == "-" || FileManager.default.fileExists(atPath: path)
            throw CommandFailure(
                "\(path) \(isThere ? "cannot be read" : "does not exist")",
                status: ExitStatus.noInput
            )
        }
    }
}
