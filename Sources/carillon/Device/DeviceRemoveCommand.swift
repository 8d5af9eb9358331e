import ArgumentParser

/// `carillon device remove`.
struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a device: it gets no notifications until it registers again.",
        discussion: """
            Example:

              carillon device remove --recipient ana --device phone
            """
    )

    @OptionGroup(title: "Device") var options: DeviceOptions

    @Flag(help: "The service's answer as JSON.")
    var json = false

    @OptionGroup(title: "Service") var service: ServiceOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon device remove") {
            let answer = try await options.call(service.client(), "DELETE")
            DeviceCommand.tell(answer, "removed \(options.device) of \(options.recipient)", json: json)
        }
    }
}
