import Testing

@testable import ServiceSupport

@Suite("Settings in force")
struct SettingsInForceTests {
    private func settings(_ yaml: String, _ environment: [String: String] = [:]) throws -> ServiceSettings {
        try ServiceSettings(environment: environment, yaml: yaml, named: "carillon.yaml")
    }

    private func value(_ key: String, in settings: ServiceSettings) -> SettingInForce? {
        settings.inForce.first { $0.key == key }
    }

    @Test func `each has its value in normal form and its source: default, line of the file, or variable`() throws {
        var settings = try settings(
            "pause: 60s\nflag: yes\nnames: [a, b]\nport: 1\n",
            ["CARILLON_PORT": "8443"]
        )
        _ = settings.duration("pause", default: .seconds(1))
        _ = settings.bool("flag", default: false)
        _ = settings.list("names", default: [])
        _ = settings.int("port", default: 80)
        _ = settings.int("count", default: 7)
        _ = settings.optionalString("path")
        try settings.finish()
        #expect(
            settings.inForce == [
                SettingInForce(key: "count", value: .integer(7), source: .default),
                SettingInForce(key: "flag", value: .boolean(true), source: .file("carillon.yaml", line: 2)),
                SettingInForce(key: "names", value: .items(["a", "b"]), source: .file("carillon.yaml", line: 3)),
                SettingInForce(key: "path", value: .nothing, source: .default),
                SettingInForce(key: "pause", value: .text("1m"), source: .file("carillon.yaml", line: 1)),
                SettingInForce(key: "port", value: .integer(8443), source: .variable("CARILLON_PORT")),
            ]
        )
        #expect(settings.inForce.map(\.source.description).contains("carillon.yaml:2"))
    }

    @Test func `each entry of a map has its own source, and a password is not shown`() throws {
        var settings = try settings(
            "kafka:\n  properties:\n    linger.ms: 5\n    sasl.username: ana\n",
            ["CARILLON_KAFKA_PROPERTIES": "linger.ms=7,sasl.password=hunter2"]
        )
        _ = SharedConfiguration.kafkaProperties(&settings)
        try settings.finish()
        let variable = SettingInForce.Source.variable("CARILLON_KAFKA_PROPERTIES")
        #expect(
            settings.inForce == [
                SettingInForce(key: "kafka.properties.linger.ms", value: .text("7"), source: variable),
                SettingInForce(key: "kafka.properties.sasl.password", value: .secret, source: variable),
                SettingInForce(
                    key: "kafka.properties.sasl.username",
                    value: .text("ana"),
                    source: .file("carillon.yaml", line: 4)
                ),
            ]
        )
    }

    @Test(arguments: [
        "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "sasl.oauthbearer.config",
        "sasl.oauthbearer.client.secret", "sasl.kerberos.kinit.cmd",
    ])
    func `no secret property of librdkafka is shown`(_ name: String) throws {
        var settings = try settings("", ["CARILLON_KAFKA_PROPERTIES": "\(name)=hunter2"])
        _ = SharedConfiguration.kafkaProperties(&settings)
        #expect(value("kafka.properties.\(name)", in: settings)?.value == .secret)
    }

    @Test func `of a URL neither user information nor the query is shown`() throws {
        var settings = try settings("url: https://ana:hunter2@example.com/a?key=hunter3\nplain: a?b@c\n")
        _ = settings.string("url", default: nil)
        _ = settings.string("plain", default: nil)
        #expect(value("url", in: settings)?.value == .text("https://<set>@example.com/a?<set>"))
        #expect(value("plain", in: settings)?.value == .text("a?b@c"))
    }
}
