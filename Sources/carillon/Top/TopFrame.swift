/// One picture of all instances, as lines of text without control characters.
struct TopFrame: Sendable {
    /// Rows of a table that are shown.
    static let maximumRows = 12
    private static let channels = ["apns", "fcm", "webpush"]

    private let pairs: [TopRates]

    /// - Parameters:
    ///   - before: The scrapes before, by instance; empty for the first frame, which has no rates.
    ///   - now: A scrape of each instance.
    init(before: [TopScrape], now: [TopScrape]) {
        let former = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
        pairs = now.map { TopRates(before: former[$0.name], now: $0) }
    }

    var lines: [String] {
        instances + lag + table("REQUESTS", "carillon_requests_total", by: "outcome")
            + table("EVENTS", "carillon_notification_events_total", by: "name")
            + table("BUSINESS EVENTS", "carillon_business_events_total", by: "outcome") + channels
            + table("DEAD LETTERS", "carillon_dead_letters_total", by: "reason")
    }

    // MARK: - Instances

    private var instances: [String] {
        var rows = [["INSTANCE", "READY", "LANES", "PARTITIONS", "PENDING", "DUE AGE", "LAG", "RECORDS", "SENDS"]]
        for scrape in pairs.map(\.now) {
            switch scrape.answer {
            case .none(let why): rows.append([scrape.name, why])
            case .page(let page): rows.append([scrape.name] + Self.cells(of: page))
            }
        }
        return Self.columns(rows)
    }

    private static func cells(of page: MetricsText) -> [String] {
        let ready = page.sums("carillon_ready", by: "component")
        let waiting = ready.filter { $0.value == 0 }.keys.sorted()
        let lanes = ready.filter { $0.key.hasPrefix("lane-") }
        func number(_ name: String) -> String { page.sum(name).map(Self.short) ?? "-" }
        let restoring = page.sum("carillon_restore_remaining_records") ?? 0
        return [
            waiting.isEmpty ? "yes" : "no: \(waiting.prefix(3).joined(separator: " "))",
            lanes.isEmpty ? "-" : "\(lanes.values.count { $0 == 1 })/\(lanes.count)",
            number("carillon_assigned_partitions") + (restoring > 0 ? " (\(short(restoring)) to restore)" : ""),
            number("carillon_schedule_pending"),
            page.sum("carillon_oldest_due_age_seconds").map { "\(short($0))s" } ?? "-",
            number("carillon_consumer_lag_records"), number("carillon_outstanding_records"),
            number("carillon_outstanding_sends"),
        ]
    }

    /// Of each topic, over all instances: the sum, and the partition with most of it.
    private var lag: [String] {
        var partitions: [String: [String: Double]] = [:]
        for sample in pairs.compactMap(\.now.page).flatMap({ $0.samples["carillon_consumer_lag_records"] ?? [] }) {
            guard let topic = sample.labels["topic"], let partition = sample.labels["partition"] else { continue }
            partitions[topic, default: [:]][partition] = max(partitions[topic]?[partition] ?? 0, sample.value)
        }
        guard !partitions.isEmpty else { return [] }
        var rows = [["LAG", "RECORDS", "MOST IN"]]
        for (topic, lags) in partitions.sorted(by: { $0.key < $1.key }).prefix(Self.maximumRows) {
            let most = lags.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let place = most.map { $0.value > 0 ? "partition \($0.key): \(Self.short($0.value))" : "-" } ?? "-"
            rows.append([topic, Self.short(lags.values.reduce(0, +)), place])
        }
        return [""] + Self.columns(rows)
    }

    // MARK: - Counters

    private func totals(_ name: String, by label: String) -> [String: TopTotal] {
        pairs.reduce(into: [:]) { all, pair in all.merge(pair.rates(name, by: label)) { $0 + $1 } }
    }

    private func table(_ title: String, _ name: String, by label: String) -> [String] {
        Self.table(title, totals(name, by: label).map { ($0.key, $0.value) })
    }

    /// The rows that are not 0, those with the highest rate first.
    private static func table(_ title: String, _ totals: [(String, TopTotal)]) -> [String] {
        let counted = totals.filter { $0.1.total > 0 }.sorted { one, other in
            let (a, b) = (one.1, other.1)
            return (b.rate ?? 0, b.total, one.0) < (a.rate ?? 0, a.total, other.0)
        }
        guard !counted.isEmpty else { return [] }
        var rows = [[title, "PER SECOND", "TOTAL"]]
        rows += counted.prefix(maximumRows).map { [$0.0, $0.1.rate.map(short) ?? "-", short($0.1.total)] }
        if counted.count > maximumRows { rows.append(["and \(counted.count - maximumRows) others"]) }
        return [""] + columns(rows)
    }

    /// Channels that have connections or have sent anything: their state, what became of pushes, and the reasons of answers.
    private var channels: [String] {
        var (states, outcomes): ([[String]], [(String, TopTotal)]) = ([], [])
        let pages = pairs.compactMap(\.now.page)
        func sum(_ name: String) -> Double? {
            let found = pages.compactMap { $0.sum(name) }
            return found.isEmpty ? nil : found.reduce(0, +)
        }
        for channel in Self.channels {
            let base = "carillon_\(channel)"
            guard let connections = sum("\(base)_connections") ?? sum("\(base)_applications_stopped") else { continue }
            func shown(_ name: String) -> String { sum("\(base)_\(name)").map(Self.short) ?? "-" }
            states.append([
                channel, sum("\(base)_connections") == nil ? "-" : Self.short(connections), shown("pushes_active"),
                shown("pushes_waiting"), shown("applications_stopped"),
            ])
            outcomes += totals("\(base)_pushes_total", by: "outcome").map { ("\(channel) \($0.key)", $0.value) }
            outcomes += totals("\(base)_answers_total", by: "reason").filter { $0.key != "Success" }
                .map { ("\(channel) reason \($0.key)", $0.value) }
        }
        outcomes += totals("carillon_webhook_requests_total", by: "outcome").map { ("webhook \($0.key)", $0.value) }
        if let open = sum("carillon_webhook_breaker_open"), open > 0 {
            states.append(["webhook", "breaker open"])
        }
        let head = [["CHANNEL", "CONNECTIONS", "ACTIVE", "WAITING", "STOPPED APPS"]]
        return (states.isEmpty ? [] : [""] + Self.columns(head + states)) + Self.table("SENDS", outcomes)
    }

    // MARK: - Text

    /// 0, 12, 0.4, 1234, 12.3k, 4.5M.
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        let size = abs(value)
        switch size {
        case 10_000_000...: return "\(rounded(value / 1_000_000))M"
        case 10_000...: return "\(rounded(value / 1000))k"
        case 100...: return rounded(value, 1)
        default: return rounded(value)
        }
    }

    /// Rounded to a tenth or to whole numbers, without a zero at the end.
    private static func rounded(_ value: Double, _ parts: Double = 10) -> String {
        let rounded = (value * parts).rounded() / parts
        guard let whole = Int64(exactly: rounded) else { return "\(rounded)" }
        return "\(whole)"
    }

    /// The first column to the left, the others to the right. Cells are escaped: labels come from elsewhere.
    private static func columns(_ rows: [[String]]) -> [String] {
        let cells = rows.map { $0.map { RecordText.safe(String($0.prefix(120))) } }
        let count = cells.map(\.count).max() ?? 0
        // A row with fewer cells is a sentence: it needs no column.
        let full = cells.filter { $0.count == count }
        let widths = (0..<count).map { column in full.map { $0[column].count }.max() ?? 0 }
        let first = cells.compactMap(\.first).map(\.count).max() ?? 0
        return cells.map { row in
            row.enumerated().map { index, cell in
                let width = index == 0 ? first : row.count == count ? widths[index] : 0
                let padding = String(repeating: " ", count: max(0, width - cell.count))
                return index == 0 ? cell + padding : padding + cell
            }
            .joined(separator: "  ")
        }
    }
}
