import ArgumentParser
import NotificationModel

/// `carillon categories show`.
struct CategoriesShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the categories of an application, in JSON.",
        discussion: """
            The output is what 'carillon categories set' reads. The status is 1 when none were set.

            Example:

              carillon categories show --application shop > categories.json
            """
    )

    @Option(help: ArgumentHelp("Whose categories. Default: the service's application.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "Service") var service: ServiceOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon categories show") {
            let answer = try await service.client().call(
                "GET",
                CategoriesCommand.path,
                query: [("application", application)]
            )
            Terminal.write(json: answer + [0x0A])
        }
    }
}
