import ArgumentParser
import Kafka
import NotificationModel
import Testing

@testable import carillon

@Suite("The connection of a command")
struct ConnectionOptionsTests {
    private func connection(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Connection {
        try ConnectionOptions.parse(arguments).connection(environment: environment)
    }

    @Test func `the option overrides the file, the file overrides the variable`() throws {
        let file = try TemporaryFile("127.0.0.1:2\n")
        let environment = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "a:1, b:2"]
        #expect(try connection([], environment).bootstrapServers == ["a:1", "b:2"])
        let both = ["--bootstrap-file", file.path]
        #expect(try connection(both, environment).bootstrapServers == ["127.0.0.1:2"])
        #expect(try connection(["--bootstrap-servers", "c:3"] + both, environment).bootstrapServers == ["c:3"])
    }

    @Test func `a missing broker is invalid usage, and a missing file is named`() throws {
        let error = #expect(throws: CommandFailure.self) { try connection([]) }
        #expect(error?.status == 64)
        #expect(error?.description.contains("CARILLON_KAFKA_BOOTSTRAP_SERVERS") == true)
        #expect(throws: CommandFailure.self) { try connection(["--bootstrap-servers", " , "]) }
        let failure = #expect(throws: CommandFailure.self) { try connection(["--bootstrap-file", "/no/such/file"]) }
        #expect(failure?.status == 66)
        #expect(failure?.description.contains("/no/such/file") == true)
    }

    @Test func `an option's property overrides the variable's, and may contain an equals sign`() throws {
        let found = try connection(
            ["--bootstrap-servers", "a:1", "-X", "sasl.password=1=2", "--property", "b="],
            ["CARILLON_KAFKA_PROPERTIES": "sasl.password=0,linger.ms=3"]
        )
        #expect(found.properties == ["sasl.password": "1=2", "b": "", "linger.ms": "3"])
        #expect(!"\(found.client("test"))".contains("1=2"))
    }

    @Test func `no part of a password with a comma is shown, and a backslash before the comma keeps it whole`() throws {
        func read(_ variable: String) throws -> Connection {
            try connection(["--bootstrap-servers", "a:1"], ["CARILLON_KAFKA_PROPERTIES": variable])
        }
        for rest in ["hunter2", "hunter2=3", "hunter2=", "=hunter2"] {
            let error = #expect(throws: CommandFailure.self) { try read("sasl.password=hunter1,\(rest)") }
            let message = try #require(error?.description)
            #expect(
                message.contains("number 2") && message.contains("\\,") && !message.contains("hunter"),
                "\(message)"
            )
        }
        #expect(try read(#"sasl.password=hunter1\,hunter2=3"#).properties == ["sasl.password": "hunter1,hunter2=3"])
        // Text that looks like another property becomes one, and its value may still be part of the password.
        let client = try read("sasl.password=hunter1,security.protocol=hunter2").client("test")
        let error = #expect(throws: KafkaError.self) { try KafkaProducerConfiguration(client: client).check() }
        #expect(error?.reason.contains("security.protocol") == true && error?.reason.contains("hunter") == false)
    }

    @Test func `topics and application are set as for the services, whose other variables are ignored`() throws {
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
