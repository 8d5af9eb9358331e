import ArgumentParser

/// `carillon categories`: commands for the categories of an application.
struct CategoriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "categories",
        abstract: "Set and show the categories of an application and their actions.",
        subcommands: [CategoriesSetCommand.self, CategoriesShowCommand.self]
    )

    /// The path of the calls.
    static let path = "/v1/categories"
}
