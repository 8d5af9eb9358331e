import ServiceSupport
import Testing

@Suite("Settings of the addresses that the service may connect to")
struct EgressConfigurationTests {
    @Test(arguments: ["/nowhere", "/etc/hostname"])
    func `a file of authorities must have certificates`(_ file: String) throws {
        let yaml = "egress: {ca: {file: \(file)}}"
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        _ = EgressConfiguration(settings: &settings)
        let error = #expect(throws: ServiceSettingsError.self) { try settings.finish() }
        #expect(error?.problems.map(\.key) == ["egress.ca.file"])
    }
}
