import ArgumentParser
import NotificationModel

/// `carillon categories set`.
struct CategoriesSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Replace all categories of an application.",
        discussion: """
            The file has the body of PUT /v1/categories: {"categories":[…]}. An empty array clears them. What notifications \
            that were delivered before may be answered with does not change.

            Examples:

              carillon categories set categories.json --application shop
              carillon categories show |
                jq '.categories |= map(select(.identifier != "OLD"))' |
                carillon categories set -
            """
    )

    @Argument(help: "The JSON file; - is standard input.", completion: .file(extensions: ["json"]))
    var file: String

    @Option(help: ArgumentHelp("Whose categories. Default: the service's application.", valueName: "name"))
    var application: String?

    @OptionGroup(title: "Service") var service: ServiceOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon categories set") {
            let client = try service.client()
            let body = try InputFile.read(file, upTo: ModelLimits.categoryBodyBytes)
            let count: Int
            do throws(ModelError) {
                count = try CategorySet(body: body).categories.count
            } catch {
                throw CommandFailure("\(file): \(RecordText.safe(error.description))", status: ExitStatus.badData)
            }
            let answer = try await client.call(
                "PUT",
                CategoriesCommand.path,
                query: [("application", application)],
                body: body
            )
            let place = try? JSONValue.parse(answer)
            let topic = place?["topic"]?.stringValue ?? ""
            let (partition, offset) = (place?["partition"]?.integerValue ?? -1, place?["offset"]?.integerValue ?? -1)
            let subject = count == 1 ? "1 category is" : "\(count) categories are"
            Terminal.write("\(subject) at \(topic) \(partition)/\(offset)\n")
        }
    }
}
