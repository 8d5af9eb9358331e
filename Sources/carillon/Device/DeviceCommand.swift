import ArgumentParser
import NotificationModel

/// `carillon device`: registers, removes and lists the devices of recipients, by the HTTP APIs of the services.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Register, remove or list the devices of a recipient.",
        subcommands: [DeviceAddCommand.self, DeviceRemoveCommand.self, DeviceListCommand.self]
    )

    /// The path of a recipient's devices.
    static func path(_ recipient: String) -> String { "/v1/recipients/\(PercentEncoding.encode(recipient))/devices" }

    /// Writes where the service put a record.
    static func tell(_ answer: [UInt8], _ done: String, json: Bool) {
        if json { return Terminal.write(json: answer + [0x0A]) }
        let value = try? JSONValue.parse(answer)
        let topic = value?["topic"]?.stringValue ?? "?"
        let (partition, offset) = (value?["partition"]?.integerValue ?? -1, value?["offset"]?.integerValue ?? -1)
        Terminal.write(RecordText.safe("\(done): \(topic) \(partition)/\(offset)") + "\n")
    }
}

/// Whose device it is.
struct DeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Whose device.", valueName: "name"))
    var recipient: String

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device: String

    @Option(help: ArgumentHelp("The application. Default: the service's.", valueName: "name"))
    var application: String?

    func validate() throws {
        guard !Validation.isLater else { return }
        do throws(ModelError) {
            _ = try NotificationKey.device(device, of: recipient, in: application ?? "a")
        } catch {
            throw ValidationError("\(error.field.map { "--\($0): " } ?? "")\(error.detail)")
        }
    }

    /// Calls the service about the device.
    func call(_ client: ServiceClient, _ method: String, body: [UInt8]? = nil) async throws -> [UInt8] {
        let path = "\(DeviceCommand.path(recipient))/\(PercentEncoding.encode(device))"
        return try await client.call(method, path, query: [("application", application)], body: body)
    }
}
