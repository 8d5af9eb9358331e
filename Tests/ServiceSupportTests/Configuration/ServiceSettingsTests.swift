import Foundation
import Testing

@testable import ServiceSupport

@Suite("Settings")
struct ServiceSettingsTests {
    private func settings(
        _ yaml: String = "",
        _ environment: [String: String] = [:]
    ) throws -> ServiceSettings {
        try ServiceSettings(environment: environment, yaml: yaml, named: "carillon.yaml")
    }

    private func problems(_ settings: ServiceSettings) -> [String] {
        do throws(ServiceSettingsError) {
            try settings.finish()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `the environment overrides the file, and the file the default`() throws {
        var settings = try settings("http: {port: 1, host: file}\n", ["CARILLON_HTTP_PORT": "2"])
        #expect(settings.int("http.port", default: 3) == 2)
        #expect(settings.string("http.host", default: "default") == "file")
        #expect(settings.string("http.path", default: "default") == "default")
        try settings.finish()
    }

    @Test func `a word boundary of a key becomes an underscore in the variable`() throws {
        var settings = try settings("", ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "a:1, b:2,"])
        #expect(settings.list("kafka.bootstrapServers", default: []) == ["a:1", "b:2"])
        try settings.finish()
    }

    @Test func `every form of value is read from the file`() throws {
        var settings = try settings(
            """
            text: hello
            count: 7
            on: true
            pause: 250ms
            names: [a, b]
            more: "c, d"
            level: debug
            dotted.key: 1
            """
        )
        enum Level: String, CaseIterable { case info, debug }
        #expect(settings.string("text", default: nil) == "hello")
        #expect(settings.int("count", default: nil, in: 1...10) == 7)
        #expect(settings.bool("on", default: false) == true)
        #expect(settings.duration("pause", default: nil) == .milliseconds(250))
        #expect(settings.list("names", default: []) == ["a", "b"])
        #expect(settings.list("more", default: []) == ["c", "d"])
        #expect(settings.oneOf("level", default: Level.info) == .debug)
        #expect(settings.int("dotted.key", default: 0) == 1)
        #expect(settings.optionalString("absent") == nil)
        try settings.finish()
    }

    @Test func `names of a map may contain dots, and the variable overrides by name`() throws {
        var settings = try settings(
            "kafka:\n  properties:\n    linger.ms: 5\n    compression.type: lz4\n    sasl: {mechanism: PLAIN}\n",
            ["CARILLON_KAFKA_PROPERTIES": #"linger.ms=7, debug=broker\,topic ,sasl.password=a=b"#]
        )
        let properties = settings.dictionary("kafka.properties")
        #expect(properties["linger.ms"] == "7")
        #expect(properties["compression.type"] == "lz4")
        #expect(properties["sasl.mechanism"] == "PLAIN")
        #expect(properties["debug"] == "broker,topic ")
        #expect(properties["sasl.password"] == "a=b")
        try settings.finish()
    }

    @Test func `an item of a map's variable without a known name is reported by its number only`() throws {
        var settings = try settings("map: {other: 1}", ["CARILLON_MAP": #"known=a,b=c,known=d\,b=e,,x"#])
        #expect(settings.dictionary("map", isName: { $0 == "known" }) == ["known": "d,b=e", "other": "1"])
        let message =
            "map has an item, number %, that is not name=value with a known name; write a comma in a value as \\,"
        #expect(
            problems(settings)
                == ["2", "4"].map {
                    "environment variable CARILLON_MAP: " + message.replacingOccurrences(of: "%", with: $0)
                }
        )
    }

    @Test func `the first item of a map's variable is named when its name is unknown`() throws {
        var settings = try settings("", ["CARILLON_MAP": "knwon=secret,known=2"])
        #expect(settings.dictionary("map", isName: { $0 == "known" }) == ["known": "2"])
        #expect(
            problems(settings) == ["environment variable CARILLON_MAP: map.knwon is not a known name"]
        )
    }

    @Test func `an unknown key is reported with its line and the key it probably means`() throws {
        var settings = try settings("http:\n  host: x\n  prot: 80\n")
        _ = settings.string("http.host", default: nil)
        _ = settings.int("http.port", default: 1)
        #expect(
            problems(settings) == [
                "carillon.yaml:3: http.prot is not a known key; did you mean http.port?"
            ]
        )
    }

    @Test func `a key with wrong case or separators is not accepted but suggested`() throws {
        var settings = try settings("kafka: {bootstrapservers: x}")
        _ = settings.list("kafka.bootstrapServers", default: [])
        #expect(problems(settings).first?.contains("did you mean kafka.bootstrapServers?") == true)
    }

    @Test func `a key that resembles no other is reported without a suggestion`() throws {
        var settings = try settings("zebra: 1")
        _ = settings.int("http.port", default: 1)
        #expect(problems(settings) == ["carillon.yaml:1: zebra is not a known key"])
    }

    @Test func `the other service's keys are ignored, and misspelt ones are reported`() throws {
        let shared = "http: {port: 1, host: [not, looked at]}\nstore:\nrules: {fil: x}\n"
        var settings = try settings(shared, ["CARILLON_STORE_DIRECTORY": "/x", "CARILLON_STORE_DIRECTRY": "/x"])
        _ = settings.int("http.port", default: 1)
        settings.passOver(["http.host", "http.port", "rules.file", "store.directory"])
        #expect(
            problems(settings) == [
                "carillon.yaml:3: rules.fil is not a known key; did you mean rules.file?",
                "environment variable CARILLON_STORE_DIRECTRY is not a known variable; "
                    + "did you mean CARILLON_STORE_DIRECTORY?",
            ]
        )
        var other = try self.settings("store: {directory: {a: 1}, directry: 2}\nhttp: 5\n")
        other.passOver(["http.port", "store.directory"])
        #expect(
            problems(other) == [
                "carillon.yaml:1: store.directory.a is not a known key; did you mean store.directory?",
                "carillon.yaml:1: store.directry is not a known key; did you mean store.directory?",
                "carillon.yaml:2: http is a map of settings, not a value; its keys: http.port",
            ]
        )
    }

    @Test func `the command line's variables are ignored as variables, and are no keys of the file`() throws {
        let own = ["CARILLON_HTTP_URL", "CARILLON_HTTP_TOKEN"]
        var settings = try settings(
            "http: {token: secret}\n",
            Dictionary(uniqueKeysWithValues: (own + ["CARILLON_HTTP_URI"]).map { ($0, "x") })
        )
        settings.passOver(variables: own)
        #expect(
            problems(settings) == [
                "carillon.yaml:1: http.token is not a known key",
                "environment variable CARILLON_HTTP_URI is not a known variable; did you mean CARILLON_HTTP_URL?",
            ]
        )
    }

    @Test func `an unknown variable with our prefix is reported, others are ignored`() throws {
        var settings = try settings("", ["CARILLON_HTTP_PROT": "1", "PATH": "/bin", "OTHER_HTTP_PROT": "1"])
        _ = settings.int("http.port", default: 1)
        #expect(
            problems(settings) == [
                "environment variable CARILLON_HTTP_PROT is not a known variable; "
                    + "did you mean CARILLON_HTTP_PORT?"
            ]
        )
    }

    @Test(arguments: [
        ("eighty", "is \"eighty\""), ("65536", "is \"65536\""), ("-1", "is \"-1\""), ("80.5", "is \"80.5\""),
        ("[80]", "is a list"), ("", "has no value"), ("\"\"", "has no value"), ("99999999999999999999", "is \"9999"),
    ])
    func `an invalid number is reported with its value and what is allowed`(given: String, said: String) throws {
        var settings = try settings("http:\n  port: \(given)\n")
        #expect(settings.int("http.port", default: 8080, in: 0...65_535) == 8080)
        let found = problems(settings)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("carillon.yaml:2: http.port \(said)") == true)
        #expect(found.first?.hasSuffix("allowed: an integer from 0 to 65535") == true)
    }

    @Test func `an invalid variable is reported by its name`() throws {
        var settings = try settings("", ["CARILLON_LOG_LEVEL": "loud"])
        enum Level: String, CaseIterable { case info, debug }
        _ = settings.oneOf("log.level", default: Level.info)
        #expect(
            problems(settings) == [
                "environment variable CARILLON_LOG_LEVEL: log.level is \"loud\"; allowed: one of info, debug"
            ]
        )
    }

    @Test func `a missing required key is reported with both ways to set it`() throws {
        var settings = try settings()
        _ = settings.string("rules.file", default: nil)
        #expect(
            problems(settings) == [
                "rules.file is required: set it in the settings file or as CARILLON_RULES_FILE; allowed: text"
            ]
        )
    }

    @Test func `all problems are reported at once, a shared one once`() throws {
        var settings = try settings("a: x\nb: y\nc: 1\n")
        _ = settings.int("a", default: 1)
        _ = settings.int("a", default: 1)
        _ = settings.bool("b", default: true)
        settings.reject("b", "does not go with a")
        #expect(problems(settings).count == 4)
    }

    @Test func `a value in place of a map and a map in place of a value get different messages`() throws {
        var settings = try settings("http: 80\nlog: {level: {x: 1}}\n")
        _ = settings.int("http.port", default: 1)
        _ = settings.string("log.level", default: "info")
        let found = problems(settings)
        #expect(found.contains("carillon.yaml:1: http is a map of settings, not a value; its keys: http.port"))
        #expect(found.contains("carillon.yaml:2: log.level.x is not a key: log.level takes text, not a map"))
    }

    @Test func `a section whose keys are all commented out is empty`() throws {
        var settings = try settings("http:\n#  port: 80\n")
        #expect(settings.int("http.port", default: 1) == 1)
        try settings.finish()
    }

    @Test func `messages show no values of a map`() throws {
        var settings = try settings(
            "kafka: {properties: {sasl.password: [hunter2]}}\n",
            ["CARILLON_KAFKA_PROPERTIES": "hunter2"]
        )
        _ = settings.dictionary("kafka.properties")
        #expect(problems(settings).count == 2)
        #expect(!problems(settings).joined().contains("hunter2"))
    }

    @Test func `declared keys have everything for a table of the documentation`() throws {
        var settings = try settings()
        _ = settings.int("http.port", default: 8080, in: 0...65_535)
        _ = settings.duration("shutdown.timeout", default: .seconds(90))
        _ = settings.int("http.port", default: 8080, in: 0...65_535)
        _ = settings.string("rules.file", default: nil)
        #expect(settings.declaredKeys.map(\.key) == ["http.port", "shutdown.timeout", "rules.file"])
        let port = try #require(settings.declaredKeys.first)
        #expect(port.variable == "CARILLON_HTTP_PORT")
        #expect(port.defaultValue == "8080")
        #expect(port.allowed == "an integer from 0 to 65535")
        #expect(!port.isRequired)
        #expect(settings.declaredKeys[1].defaultValue == "90s")
        #expect(settings.declaredKeys[2].isRequired)
    }
}
