import Testing

@testable import ServiceSupport

@Suite("The main program of a service")
struct ServiceMainTests {
    private let main = ServiceMain(name: "test", summary: "A test.", defaultOpsPort: 0)

    @Test(arguments: [
        (["--config", "f"], ServiceCommandLine.Outcome.run(config: "f")), (["--config=f"], .run(config: "f")),
        ([], .run(config: nil)), (["--help"], .help), (["--version"], .version),
        (["--config"], .wrong("--config needs the path of a settings file")),
        (["--config="], .wrong("--config needs the path of a settings file")),
        (["--config", "a", "-c", "b"], .wrong("-c is given twice")), (["run"], .wrong("'run' is not an option")),
        (["--check-health", "live"], .checkHealth(.live, config: nil)),
        (["--config", "f", "--check-health", "ready"], .checkHealth(.ready, config: "f")),
        (["--check-health"], .wrong("--check-health needs one of live and ready")),
        (["--check-health", "well"], .wrong("--check-health needs one of live and ready")),
    ])
    func `the command line locates the settings`(given: [String], outcome: ServiceCommandLine.Outcome) {
        #expect(ServiceCommandLine.parse(given) == outcome)
    }

    @Test func `invalid settings end the start with status 78 before a service is created`() async {
        let status = await main.run(arguments: ["test"], environment: ["CARILLON_OPS_PROT": "1"]) { _ in
            { _ in
                Issue.record("services were made in spite of wrong settings")
                return []
            }
        }
        #expect(status == 78)
    }

    @Test func `an invalid command line ends with status 64`() async {
        let status = await main.run(arguments: ["test", "--nonsense"], environment: [:]) { _ in
            Issue.record("settings were read in spite of a wrong command line")
            return { _ in [] }
        }
        #expect(status == 64)
    }
}
