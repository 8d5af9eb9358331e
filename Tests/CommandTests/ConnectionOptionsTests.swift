import ArgumentParser
import NotificationModel
import Testing

@testable import carillon

@Suite("How a command finds its cluster")
struct ConnectionOptionsTests {
    private func connection(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Connection {
        try ConnectionOptions.parse(arguments).connection(environment: environment)
    }

    @Test func `the option comes before the file, the file before the variable`() throws {
        let file = try TemporaryFile("127.0.0.1:2\n")
        let environment = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "a:1, b:2"]
        #expect(try connection([], environment).bootstrapServers == ["a:1", "b:2"])
        let both = ["--bootstrap-file", file.path]
        #expect(try connection(both, environment).bootstrapServers == ["127.0.0.1:2"])
        #expect(try connection(["--bootstrap-servers", "c:3"] + both, environment).bootstrapServers == ["c:3"])
    }

    @Test func `without a broker it is wrong usage, and a file that is not there is named`() throws {
        let error = #expect(throws: CommandFailure.self) { try connection([]) }
        #expect(error?.status == 64)
        #expect(error?.description.contains("CARILLON_KAFKA_BOOTSTRAP_SERVERS") == true)
        #expect(throws: CommandFailure.self) { try connection(["--bootstrap-servers", " , "]) }
        let failure = #expect(throws: CommandFailure.self) { try connection(["--bootstrap-file", "/no/such/file"]) }
        #expect(failure?.status == 66)
        #expect(failure?.description.contains("/no/such/file") == true)
    }

    @Test func `an option's property comes before the variable's, and may hold an equals sign`() throws {
        let found = try connection(
            ["--bootstrap-servers", "a:1", "-X", "a=1=2", "--property", "b="],
            ["CARILLON_KAFKA_PROPERTIES": "a=0,c=3"]
        )
        #expect(found.properties == ["a": "1=2", "b": "", "c": "3"])
        #expect(!"\(found.client("test"))".contains("1=2"))
    }

    @Test func `topics and application are named as for the services, whose other variables do not matter`() throws {
        let environment = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "a:1", "CARILLON_TOPICS_PREFIX": "x.",
            "CARILLON_TOPICS_REQUESTS": "my-requests", "CARILLON_APPLICATION_DEFAULT": "shop",
            "CARILLON_HTTP_PORT": "8080", "CARILLON_NO_SUCH_THING": "1",
        ]
        let found = try connection([], environment)
        #expect(found.topics.requests == "my-requests")
        #expect(found.topics.deliveries == "x.deliveries")
        #expect(found.defaultApplication == "shop")
        #expect(try connection(["--topics-prefix", "y."], environment).topics.deliveries == "y.deliveries")
        #expect(throws: CommandFailure.self) { try connection(["--topics-prefix", "a b"], environment) }
    }
}
