/// The command line of a service's executable: options only, no commands.
enum ServiceCommandLine {
    enum Outcome: Hashable {
        case run(config: String?)
        case checkHealth(HealthCheck.Question, config: String?)
        case help
        case helpSettings
        case version
        case wrong(String)
    }

    /// Reads `--config FILE` or `--config=FILE`, `--check-health live|ready`, `--help`, `--help-settings`, `--version`.
    static func parse(_ arguments: some Sequence<String>) -> Outcome {
        var file: String?
        var question: HealthCheck.Question?
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return .help
            case "--version": return .version
            case "--help-settings": return .helpSettings
            case "--config", "-c":
                guard let path = rest.popFirst(), !path.hasPrefix("-") else {
                    return .wrong("\(argument) needs the path of a settings file")
                }
                guard file == nil else { return .wrong("\(argument) is given twice") }
                file = path
            case "--check-health":
                let word = rest.popFirst()
                guard let asked = word.flatMap(HealthCheck.Question.init(rawValue:)), question == nil else {
                    return .wrong("--check-health needs one of live and ready")
                }
                question = asked
            case _ where argument.hasPrefix("--config="):
                guard file == nil else { return .wrong("--config is given twice") }
                file = String(argument.dropFirst("--config=".count))
            default: return .wrong("'\(argument)' is not an option")
            }
        }
        guard file != "" else { return .wrong("--config needs the path of a settings file") }
        return question.map { .checkHealth($0, config: file) } ?? .run(config: file)
    }

    static func help(name: String, summary: String) -> String {
        """
        \(summary)

        usage: \(name) [--config FILE] [--check-health live|ready]

          --config FILE   read settings from a YAML file
          --check-health live|ready
                          ask the running service with these settings, instead
                          of starting one: status 0 when it is, 1 when it is
                          not, 69 when it does not answer
          --help          show this
          --help-settings every setting with its default, range and effect
          --version       show the version

        Every setting can also be an environment variable, which overrides the file:
        http.port is CARILLON_HTTP_PORT. With invalid settings the program exits with
        status 78 and lists them on standard error.
        """
    }
}
