import ArgumentParser
import Foundation
import NotificationModel
import Testing

@testable import carillon

@Suite("Commands that call a service")
struct CategoriesCommandTests {
    private static func json(_ status: Int, _ text: String) -> [UInt8] {
        LoopbackServer.answer(status, ["content-type: application/json"], body: Array(text.utf8))
    }

    private func client(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ServiceClient {
        try ServiceOptions.parse(arguments).client(environment: environment)
    }

    private func status(of arguments: [String]) async throws -> Int32 {
        var command = try #require(try Carillon.understood(arguments) as? any AsyncParsableCommand)
        do {
            try await command.run()
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        }
    }

    @Test("the option overrides the variable, and without both it is this machine")
    func address() throws {
        let environment = ["CARILLON_HTTP_URL": "https://carillon.example:8443/", "CARILLON_HTTP_TOKEN": "secret"]
        #expect(try client([]).base.string == "http://127.0.0.1:8080" && client([]).token == nil)
        #expect(try client([], environment).base.host == "carillon.example")
        #expect(try client([], environment).token == "secret")
        #expect(try client(["--url", "http://[::1]:1"], environment).base.port == 1)
        let file = try TemporaryFile("from-file\n")
        #expect(try client(["--token-file", file.path], environment).token == "from-file")
    }

    @Test(
        "a URL that is none of a service is invalid usage",
        arguments: ["", "localhost:8080", "ftp://a", "http://", "http://a/v1", "http://a?b", "http://u@a"]
    )
    func badAddress(_ url: String) {
        let failure = #expect(throws: CommandFailure.self) { try client(["--url", url]) }
        #expect(failure?.status == 64)
    }

    @Test("an answer is the body, and the query is percent-encoded")
    func answer() async throws {
        let server = try LoopbackServer(["/v1/categories?application=my%20b%26nk%2B": Self.json(200, "{}")])
        let client = try client(["--url", server.origin])
        let body = try await client.call("GET", "/v1/categories", query: [("application", "my b&nk+"), ("other", nil)])
        #expect(String(decoding: body, as: UTF8.self) == "{}")
    }

    @Test("a redirect is not followed, so that no other origin gets the token", arguments: [301, 302, 307, 308])
    func redirect(_ status: Int) async throws {
        let other = try LoopbackServer(["/v1/categories": Self.json(200, "{}")])
        let server = try LoopbackServer([
            "/v1/categories": LoopbackServer.answer(status, ["location: \(other.origin)/v1/categories"], body: [])
        ])
        let client = try client(["--url", server.origin], ["CARILLON_HTTP_TOKEN": "secret"])
        await #expect(throws: CommandFailure.self) { try await client.call("GET", "/v1/categories") }
        #expect(server.targets.count == 1 && other.targets.isEmpty)
    }

    @Test(
        "a problem is told with its reason, field and detail",
        arguments: [(400, 65), (413, 65), (404, 1), (403, 1), (503, 69)] as [(Int, Int32)]
    )
    func problem(_ status: Int, _ exit: Int32) async throws {
        let problem = #"{"reason":"invalid","field":"categories.0","detail":"a\u001b[31mb"}"#
        let server = try LoopbackServer(["/v1/categories": Self.json(status, problem)])
        let client = try client(["--url", server.origin])
        let failure = await #expect(throws: CommandFailure.self) { try await client.call("GET", "/v1/categories") }
        #expect(failure?.status == exit)
        let text = try #require(failure?.description)
        #expect(text.contains("\(status), invalid at categories.0: a") && !text.contains("\u{1B}"))
    }

    @Test("a service that is away is status 69")
    func away() async throws {
        let client = try client(["--url", "http://127.0.0.1:1"])
        let failure = await #expect(throws: CommandFailure.self) { try await client.call("GET", "/v1/categories") }
        #expect(failure?.status == 69)
    }

    @Test("categories are set from a file and shown")
    func commands() async throws {
        let server = try LoopbackServer([
            "/v1/categories?application=shop": Self.json(202, #"{"topic":"t","partition":1,"offset":2}"#)
        ])
        let file = try TemporaryFile(#"{"categories":[{"identifier":"ORDER"}]}"#)
        let options = ["--application", "shop", "--url", server.origin]
        #expect(try await status(of: ["categories", "set", file.path] + options) == 0)
        #expect(try await status(of: ["categories", "show"] + options) == 0)
        #expect(server.targets == ["/v1/categories?application=shop", "/v1/categories?application=shop"])
        #expect(try await status(of: ["categories", "show", "--url", server.origin]) == 1)
    }

    @Test("an invalid or missing file is refused before anything is called")
    func files() async throws {
        let server = try LoopbackServer([:])
        let file = try TemporaryFile(#"{"categories":[{"identifier":""}]}"#)
        #expect(try await status(of: ["categories", "set", file.path, "--url", server.origin]) == 65)
        #expect(try await status(of: ["categories", "set", "/no/such/file", "--url", server.origin]) == 66)
        #expect(server.targets.isEmpty)
    }
}
