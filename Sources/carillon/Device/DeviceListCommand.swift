import ArgumentParser
import NotificationModel

/// `carillon device list`.
struct DeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the devices of a recipient, as the consumer service has them.",
        discussion: """
            Example:

              carillon device list --recipient ana

            Tokens are shown with --json only.
            """
    )

    @Option(help: ArgumentHelp("Whose devices.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    @Flag(help: "One JSON object for each device.")
    var json = false

    @OptionGroup(title: "Service") var service: ServiceOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon device list") {
            let client = try service.client(queries: true)
            let path = DeviceCommand.path(recipient)
            let answer = try await client.call("GET", path, query: [("application", application)])
            let devices = try Self.devices(in: answer)
            guard !json else { return Terminal.write(json: devices.flatMap { $0.json + [0x0A] }) }
            let lines = devices.isEmpty ? ["no devices of \(recipient)"] : devices.map(Self.line)
            Terminal.write(lines.map { RecordText.safe($0) + "\n" }.joined())
        }
    }

    /// The devices of an answer.
    static func devices(in answer: [UInt8]) throws(CommandFailure) -> [JSONValue] {
        guard let devices = (try? JSONValue.parse(answer))?["devices"]?.arrayValue else {
            throw CommandFailure("the service's answer has no devices", status: ExitStatus.failed)
        }
        return devices
    }

    /// What matters of a device, in one line: only settings that restrict it.
    static func line(_ device: JSONValue) -> String {
        func text(_ member: String) -> String? { device[member]?.stringValue }
        let restricted = (device["settings"]?.objectValue ?? []).compactMap { setting -> String? in
            let value = setting.value.stringValue ?? ""
            if setting.name == "alertStyle" { return AlertStyle(rawValue: value) == .nothing ? "banner" : nil }
            return [.disabled, .notSupported].contains(NotificationSetting(rawValue: value)) ? setting.name : nil
        }
        let parts: [String?] = [
            text("device") ?? "?", text("platform"), text("kind"), text("environment"), text("authorizationStatus"),
            restricted.isEmpty ? nil : "without \(restricted.joined(separator: ", "))",
            device["badge"]?.integerValue.map { "badge \($0)" }, text("locale"), text("timeZone"),
            text("appVersion").map { "version \($0)" }, text("registeredAt").map { "registered \($0)" },
            text("retiredAt").map { "retired \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
