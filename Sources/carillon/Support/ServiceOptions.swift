import ArgumentParser
import CarillonServices
import Foundation
import NotificationModel

/// A service's HTTP API: the options of every command that calls one.
struct ServiceOptions: ParsableArguments {
    private typealias Variable = CommandVariable

    @Option(
        help: ArgumentHelp(
            """
            The service. Default: \(Variable.httpURL.rawValue), else \(defaultURL); for queries \(Variable.queriesURL.rawValue), \
            else \(queriesURL).
            """,
            valueName: "url"
        )
    )
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token for the calls. Default: \(Variable.httpToken.rawValue).",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("How long to wait for the answer: seconds, or a time such as 500ms.", valueName: "time")
    )
    var timeout = SpanArgument(.seconds(10))

    private static let defaultURL = "http://127.0.0.1:8080"
    private static let queriesURL = "http://127.0.0.1:8083"
    private static let tokenBytes = 1024

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (.milliseconds(100) ... .seconds(3_600)).contains(timeout.duration) else {
            throw ValidationError("--timeout must be from 100ms to 1h")
        }
    }

    /// - Parameters:
    ///   - queries: whether the queries of the consumer service are called, instead of the producer service.
    ///   - environment: the process environment.
    /// - Throws: ``CommandFailure`` for a URL that cannot be called, or a token that cannot be read.
    func client(
        queries: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ServiceClient {
        try Self.client(url, tokenFile: tokenFile, timeout: timeout, queries: queries, environment: environment)
    }

    /// The same for a command with options of its own.
    static func client(
        _ url: String?,
        tokenFile: String? = nil,
        timeout: SpanArgument = SpanArgument(.seconds(20)),
        queries: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ServiceClient {
        let address =
            url ?? environment[(queries ? Variable.queriesURL : .httpURL).rawValue]
            ?? (queries ? Self.queriesURL : Self.defaultURL)
        guard let base = URLComponents(string: address), ["http", "https"].contains(base.scheme?.lowercased()),
            base.host?.isEmpty == false, ["", "/"].contains(base.path), base.query == nil, base.user == nil
        else {
            throw CommandFailure(
                "\(RecordText.safe(address)) is no URL of a service: it needs a form such as \(Self.defaultURL)",
                status: ExitStatus.usage
            )
        }
        let token = try tokenFile.map { path in
            String(decoding: try InputFile.read(path, upTo: Self.tokenBytes), as: UTF8.self)
        }
        return ServiceClient(
            base: base,
            token: (token ?? environment[Variable.httpToken.rawValue])?.trimmingCharacters(in: .whitespacesAndNewlines),
            timeout: timeout
        )
    }
}
