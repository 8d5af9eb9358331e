import Foundation
import Testing

/// The page of metrics, and the files for Prometheus and Grafana that use them.
struct MetricsPage {
    struct Metric: Hashable {
        var name: String
        var labels: [String]
    }

    /// Those of its tables, by name.
    let metrics: [String: Metric]
    /// The alerts that have a heading there.
    let alerts: [String]

    init() throws {
        let page = try Page("Sources/carillon/carillon.docc/Metrics.md")
        var metrics: [String: Metric] = [:]
        for line in page.text.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 4 && cells[2...].allSatisfy { !$0.isEmpty }, "\(line)")
            let name = try #require(Page.code(cells[0]), "\(line)")
            let labels = cells[1].matches(of: /`([a-z]+)`/).map { String($0.1) }
            #expect(
                metrics.updateValue(Metric(name: name, labels: labels), forKey: name) == nil,
                "\(name) is there twice"
            )
        }
        self.metrics = metrics
        alerts = page.text.matches(of: /(?m)^### (Carillon[A-Za-z]+)$/).map { String($0.1) }
    }

    /// The names of metrics in expressions, without the endings that a histogram's series have. Recorded series have colons.
    func names(in text: String) -> Set<String> {
        let words = text.matches(of: /[a-z0-9_:]+/).map { String($0.0) }
        return Set(
            words.filter { $0.hasPrefix("carillon_") || $0.hasPrefix("process_") }.map { name in
                let histogram = name.replacing(/_(bucket|sum|count)$/, with: "")
                return metrics[name] == nil && metrics[histogram] != nil ? histogram : name
            }
        )
    }

    static func file(_ name: String) throws -> String {
        try String(contentsOf: Tools.package.appendingPathComponent("deploy/\(name)"), encoding: .utf8)
    }

    /// The queries of the board, each with the title of its panel.
    static func boardQueries() throws -> [(title: String, query: String)] {
        let board = try #require(JSONText.object(Data(try file("grafana/carillon.json").utf8)))
        let panels = try #require(board["panels"] as? [[String: Any]])
        var queries: [(title: String, query: String)] = []
        for panel in panels {
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let query = try #require(target["expr"] as? String)
                queries.append((panel["title"] as? String ?? "", query))
            }
        }
        for one in (board["annotations"] as? [String: Any])?["list"] as? [[String: Any]] ?? [] {
            queries.append((one["name"] as? String ?? "", try #require(one["expr"] as? String)))
        }
        return queries
    }
}

/// The page of metrics against the alerts and the board; `MonitoringTests` compares it with the services.
@Suite("The page of metrics")
struct MetricsPageTests {
    @Test("has every metric that the alerts, the recording rules and the board name")
    func names() throws {
        let page = try MetricsPage()
        #expect(page.metrics.count > 100)
        let board = try MetricsPage.boardQueries()
        #expect(board.count > 60)
        let texts = try [MetricsPage.file("prometheus/alerts.yaml"), MetricsPage.file("prometheus/recording.yaml")]
        for text in texts + board.map(\.query) {
            for name in page.names(in: text) { #expect(page.metrics[name] != nil, "\(name) in \(text.prefix(200))") }
        }
    }

    @Test("says of every alert what to do, and each one has tests in both directions")
    func alerts() throws {
        let page = try MetricsPage()
        let rules = try MetricsPage.file("prometheus/alerts.yaml")
        let alerts = rules.matches(of: /- alert: (\w+)\n/).map { String($0.1) }
        #expect(Set(page.alerts) == Set(alerts) && alerts.count > 20)
        for alert in Set(alerts) { #expect(rules.contains("runbook: Metrics.md#\(alert.lowercased())\n"), "\(alert)") }
        let tests = try MetricsPage.file("prometheus/alerts.test.yaml")
        for alert in Set(alerts) {
            #expect(tests.contains(" alertname: \(alert)\n"), "no test in which \(alert) fires")
            #expect(tests.matches(of: /\{alertname: (\w+), .*exp_alerts: \[\]/).contains { $0.1 == alert }, "\(alert)")
        }
    }
}
