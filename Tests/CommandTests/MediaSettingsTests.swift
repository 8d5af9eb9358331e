import ArgumentParser
import NotificationEnrichment
import OutboundHTTP
import ServiceSupport
import Testing

@testable import carillon

@Suite("The settings of carillon media fetch")
struct MediaSettingsTests {
    private func settings(
        _ arguments: [String] = [],
        _ environment: [String: String] = [:]
    ) throws -> MediaFetching.Settings {
        try MediaFetchCommand.parse(arguments).settings(environment: environment)
    }

    @Test("options outweigh variables, these the file; other settings do not matter")
    func precedence() throws {
        let file = try TemporaryFile(
            """
            kafka: {bootstrap: {servers: 7}}
            unknown: true
            egress: {internal-origins: ["http://a:1"]}
            media: {timeout: 7s, directory: /filed, image: {bytes: 9}}
            """
        )
        let variables = ["CARILLON_MEDIA_DIRECTORY": "/set", "CARILLON_OPS_PORT": "x", "CARILLON_NO_SUCH": "1"]
        let read = try settings(["--config", file.path], variables)
        #expect(read.egress.internalOrigins == ["http://a:1"])
        #expect(read.media.timeout == .seconds(7) && read.media.directory == "/set" && read.media.imageBytes == 9)
        let options = ["--internal-origin", "http://b", "--timeout", "500ms", "--output", "o", "--type-hint", "t"]
        let given = try settings(["--config", file.path] + options, variables)
        #expect(given.egress.internalOrigins == ["http://a:1", "http://b"])
        #expect(given.media.timeout == .milliseconds(500) && given.media.directory == "o" && given.typeHint == "t")
        #expect(try settings().media.directory.isEmpty)
    }

    @Test(
        "a wrong setting is named, with status 78",
        arguments: [
            (["CARILLON_EGRESS_NETWORKS_DENIED": "10.0.0.1/8"], "egress.networks.denied"),
            (["CARILLON_MEDIA_TIMEOUT": "soon"], "media.timeout"),
            (["CARILLON_EGRESS_HOST_DENIED": "a"], "CARILLON_EGRESS_HOSTS_DENIED"),
        ]
    )
    func wrong(_ environment: [String: String], _ text: String) {
        let failure = #expect(throws: CommandFailure.self) { _ = try settings([], environment) }
        #expect(failure?.status == 78 && failure?.description.contains(text) == true)
    }

    @Test("an unknown key of the two sections is named with its line, and a missing file has status 66")
    func file() throws {
        let file = try TemporaryFile("ops: {prt: 1}\negress:\n  hosts:\n    alowed: [a]\n")
        let failure = #expect(throws: CommandFailure.self) { _ = try settings(["--config", file.path]) }
        #expect(failure?.status == 78 && failure?.description.contains(":4: egress.hosts.alowed") == true)
        #expect(failure?.description.contains("ops") == false)
        let missing = #expect(throws: CommandFailure.self) { _ = try settings(["--config", "/no/such/file"]) }
        #expect(missing?.status == 66)
    }
}
