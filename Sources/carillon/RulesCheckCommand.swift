import ArgumentParser
import Foundation
import NotificationModel
import NotificationProducer

/// `carillon rules check`: a file of rules as the producer service would read it, and what it makes of an event.
struct RulesCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a file of rules, and see what becomes of an event.",
        discussion: """
            Without an event it lists the rules, or every problem of the file with its line. With one it shows each request and \
            removal that would be published, or why there is none. Nothing is connected and nothing is sent.

            The status is 0 when all is well, also when no rule's condition holds; 1 when the file has problems, or when the event \
            would go to dead letters; 64 for a wrong command line.
            """
    )

    @Argument(help: "The YAML file of rules.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "A CloudEvent in structured mode (one JSON object with specversion, id, source, type, data); - reads it from standard input.",
            valueName: "file"
        )
    )
    var event: String?

    @Option(help: "For rules that name no application, as the setting application.default.")
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

    func run() throws {
        let report = RulesReport(file: file)
        let rules: RulePreview
        do throws(RuleFileError) {
            rules = try RulePreview(file: file, defaultApplication: application)
        } catch {
            if json {
                Terminal.write(report.json(of: error))
            } else {
                Self.complain("\(error)")
            }
            throw ExitCode.failure
        }
        guard let event else {
            Terminal.write(json ? report.json(of: rules.rules) : Array(report.text(of: rules.rules).utf8))
            return
        }
        let result = rules.apply(toStructured: try Self.read(event))
        Terminal.write(json ? report.json(of: result) : Array(report.text(of: result).utf8))
        if !result.failures.isEmpty { throw ExitCode.failure }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        do {
            let input =
                path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            // One byte more than an event may have, so that the model sees that it is too large.
            var bytes: [UInt8] = []
            while bytes.count <= ModelLimits.businessEventBytes,
                let more = try input.read(upToCount: ModelLimits.businessEventBytes + 1 - bytes.count), !more.isEmpty
            {
                bytes += more
            }
            return bytes
        } catch {
            complain("carillon rules check: \(path) cannot be read: \(error.localizedDescription)")
            throw ExitCode.failure
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
