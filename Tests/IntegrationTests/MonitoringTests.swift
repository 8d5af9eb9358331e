import Foundation
import Testing
import TestSupport

/// What an operator watches Carillon with: `/metrics` of both services with every channel, a Prometheus that scrapes them, the rules
/// and the queries of the board. The folder of `BOARD_PICTURES` gets the pictures of the documentation.
@Suite("The metrics, the rules and the board against live services", .timeLimit(.minutes(10)))
struct MonitoringTests {
    /// Absent until something has happened.
    private static let later: Set = ["carillon_kafka_client_errors_total", "carillon_enrichment_enrichers_total"]

    /// Both services with all that can be turned on.
    private struct World {
        let folder: TemporaryFolder
        let apple: APNsSimulatorProcess
        let android: FCMSimulatorProcess
        let stack: Stack

        init() async throws {
            folder = try TemporaryFolder()
            apple = try await APNsSimulatorProcess()
            android = try await FCMSimulatorProcess()
            let made = try ChildProcess(try Tools.product("carillon"), ["webpush", "keys", folder.file("vapid.pem")])
            #expect(try await made.ended() == 0, "\(made.lastWords)")
            let key = try #require(try apple.place("key").split(separator: " ").first)
            stack = try await Stack.start([
                "CARILLON_CHANNEL": "devices",
                "CARILLON_CHANNELS": "webhook",
                "CARILLON_APNS_APPLICATIONS_FILE": try folder.write(
                    "shop: {bundles: com.example.shop, team: SIMULATEAM, key: CARILLON01, key-file: \(key)}\n",
                    to: "apns.yaml"
                ),
                "CARILLON_APNS_INTERNAL": "true",
                "CARILLON_APNS_PRODUCTION_URL": try apple.place("production"),
                "CARILLON_APNS_DEVELOPMENT_URL": try apple.place("development"),
                "CARILLON_FCM_APPLICATIONS_FILE": try folder.write(
                    "shop: {packages: com.example.shop, service-account: \(try android.place("account"))}\n",
                    to: "fcm.yaml"
                ),
                "CARILLON_FCM_INTERNAL": "true",
                "CARILLON_FCM_URL": try android.place("messages"),
                "CARILLON_WEBPUSH_APPLICATIONS_FILE": try folder.write(
                    """
                    shop:
                      key-file: \(folder.file("vapid.pem"))
                      subject: mailto:push@shop.example
                      navigate: https://shop.example/open?target={target}
                    """,
                    to: "webpush.yaml"
                ),
                "CARILLON_EGRESS_CA_FILE": try folder.write(
                    try [apple.place("authority"), android.place("authority")]
                        .map { try String(contentsOfFile: $0, encoding: .utf8) }.joined(separator: "\n"),
                    to: "authorities.pem"
                ),
                "CARILLON_WEBHOOK_URL": "https://127.0.0.1:1/",
                "CARILLON_WEBHOOK_INTERNAL": "true",
                "CARILLON_WEBHOOK_KEYS_FILE": try folder.write(
                    "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())\n",
                    to: "webhook-keys"
                ),
                "CARILLON_MEDIA_URL": "https://media.example.com/media",
                "CARILLON_ENRICHMENT_ENABLED": "true",
                "CARILLON_MEDIA_DIRECTORY": folder.file("media"),
                "CARILLON_QUERIES_ENABLED": "true",
                "CARILLON_QUERIES_PORT": "0",
                "CARILLON_STORE_DIRECTORY": folder.file("store"),
                "CARILLON_TRACING_ENDPOINT": "http://127.0.0.1:1/",
            ])
        }

        func end() async throws {
            try await stack.stop()
            await apple.child.end()
            await android.child.end()
        }
    }

    @Test("the page lists what the services show, rules evaluate, and every query of the board has an answer")
    func live() async throws {
        let world = try await World()
        do {
            try await compare(world.stack)
            try await watch(world)
        } catch {
            Issue.record(error, "\(world.stack.consumer.child.lastWords)")
        }
        try await world.end()
    }

    /// The families of a page with the labels of their series.
    private func families(_ page: String) throws -> [String: Set<String>] {
        var families: [String: Set<String>] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("# TYPE ") {
            families[String(line.split(separator: " ")[2])] = []
        }
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            let series = try #require(line.firstMatch(of: #/^(\w+)(?:\{(.*)\})? /#))
            let name = String(series.1)
            let family = families[name] == nil ? name.replacing(/_(bucket|sum|count)$/, with: "") : name
            let labels = (series.2 ?? "").matches(of: /(\w+)="(?:[^"\\]|\\.)*"/).map { String($0.1) }
            families[family]?.formUnion(labels.filter { $0 != "le" })
        }
        return families
    }

    private func compare(_ stack: Stack) async throws {
        let written = try MetricsPage().metrics
        var shown: [String: Set<String>] = [:]
        try await eventually("the lag is known") {
            try await stack.consumer.metrics.contains("\ncarillon_consumer_lag_records{")
        }
        for service in [stack.producer, stack.consumer] {
            shown.merge(try families(try await service.metrics)) { $0.union($1) }
        }
        #expect(Set(shown.keys).subtracting(written.keys).sorted() == [], "shown, and not on the page")
        #expect(Set(written.keys).subtracting(shown.keys).isSubset(of: Self.later), "on the page, and not shown")
        for (name, labels) in shown where !Self.later.contains(name) {
            #expect(labels.sorted() == written[name]?.labels.sorted(), "the labels of \(name)")
        }
    }

    private func watch(_ world: World) async throws {
        func target(_ service: ServiceProcess) async throws -> String {
            "127.0.0.1:\(try await service.port("ops endpoint listens"))"
        }
        let rules = Tools.package.appendingPathComponent("deploy/prometheus").path
        let configuration = try world.folder.write(
            """
            global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
            rule_files: ["\(rules)/recording.yaml", "\(rules)/alerts.yaml"]
            scrape_configs:
              - {job_name: carillon-producer, static_configs: [{targets: ["\(try await target(world.stack.producer))"]}]}
              - {job_name: carillon-consumer, static_configs: [{targets: ["\(try await target(world.stack.consumer))"]}]}
            """,
            to: "prometheus.yaml"
        )
        let port = try await ChildProcess.run(try Tools.python(), [Tools.client("free_ports.py"), "1"]).outputText
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let prometheus = try ChildProcess(
            try Tools.program("prometheus"),
            [
                "--config.file", configuration, "--storage.tsdb.path", world.folder.file("tsdb"),
                "--web.listen-address", "127.0.0.1:\(port)", "--log.level", "warn",
            ]
        )
        do {
            let asked = Prometheus(url: "http://127.0.0.1:\(port)", process: prometheus)
            try await ask(asked, world.stack)
            try await draw(asked, world)
        } catch {
            Issue.record(error, "\(prometheus.lastWords)")
        }
        await prometheus.end()
    }

    private struct Prometheus {
        let url: String
        let process: ChildProcess

        func data(_ path: String, _ query: String? = nil) async throws -> [String: Any] {
            let options = query.map { ["--get", "--data-urlencode", "query=\($0)"] } ?? []
            let answer = try await Curl.send("GET", "\(url)/api/v1/\(path)", options: options)
            let object = JSONText.object(answer.body) ?? [:]
            guard answer.status == 200, let data = object["data"] as? [String: Any] else {
                throw ChildProcess.Failure(description: "\(query ?? path): \(answer.status) \(answer.text)")
            }
            return data
        }

        func series(_ query: String) async throws -> Int {
            (try await data("query", query)["result"] as? [Any])?.count ?? 0
        }
    }

    private func ask(_ prometheus: Prometheus, _ stack: Stack) async throws {
        try await eventually("Prometheus has scraped both a few times", orSay: { prometheus.process.lastWords }) {
            guard prometheus.process.isRunning else {
                throw ChildProcess.Failure(description: prometheus.process.lastWords)
            }
            let scraped = "count_over_time(carillon_build_info[1h]) >= 4"
            return (try? await prometheus.series(scraped)) == 2
        }
        for (title, written) in try MetricsPage.boardQueries() {
            let query = written.replacing("$__rate_interval", with: "1m").replacing("$instance", with: ".*")
            #expect(!query.contains("$"), "\(title): \(query)")
            let count = try await prometheus.series(query)
            // What is compared with a bound is empty while all is well.
            if !query.contains("> 0") && !query.contains("== 0") {
                #expect(count > 0, "\(title): \(query) has no answer")
            }
        }
        try await eventually("all rules were evaluated") {
            let groups = try await prometheus.data("rules")["groups"] as? [[String: Any]] ?? []
            let rules = groups.flatMap { $0["rules"] as? [[String: Any]] ?? [] }
            for rule in rules where rule["health"] as? String == "err" {
                throw ChildProcess.Failure(description: "\(rule["name"] ?? ""): \(rule["lastError"] ?? "")")
            }
            return rules.count > 30 && rules.allSatisfy { $0["health"] as? String == "ok" }
        }
    }

    /// Draws each row of the board: what is there by now, or for the documentation 110 seconds under load.
    private func draw(_ prometheus: Prometheus, _ world: World) async throws {
        let folder = ProcessInfo.processInfo.environment["BOARD_PICTURES"]
        let program = Tools.client("board.py")
        if folder != nil {
            let driver = try ChildProcess(
                try Tools.python(),
                [
                    program, "drive", try await world.stack.producer.http, try world.apple.place("control"),
                    try world.android.place("control"), "110",
                ]
            )
            #expect(try await driver.ended(within: .seconds(240)) == 0, "\(driver.lastWords)")
        }
        let board = Tools.package.appendingPathComponent("deploy/grafana/carillon.json").path
        let place = folder ?? world.folder.file("board")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let seconds = folder == nil ? "10" : "120"
        let drawn = try await ChildProcess.run(
            try Tools.python(),
            [program, "draw", board, prometheus.url, seconds, place]
        ).outputText.split(separator: "\n").map(String.init)
        let texts = try drawn.map { try String(contentsOfFile: "\(place)/\($0)", encoding: .utf8) }.joined()
        // Its annotation is no panel.
        #expect(
            try Set(MetricsPage.boardQueries().map(\.title).filter { !texts.contains(">\($0)</text>") }) == ["Starts"]
        )
        #expect(texts.contains("<polyline"))
        let page = try Page("Sources/carillon/carillon.docc/Metrics.md").text
        for name in drawn { #expect(page.contains("](\(name))"), "the page does not show \(name)") }
    }
}
