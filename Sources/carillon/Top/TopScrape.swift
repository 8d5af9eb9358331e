/// What one instance said at one time.
struct TopScrape: Sendable, Hashable {
    enum Answer: Sendable, Hashable {
        case page(MetricsText)
        /// Why there is none.
        case none(String)
    }

    /// The instance, as the operator names it.
    var name: String
    var answer: Answer
    /// By a monotonic clock, in seconds.
    var time: Double

    var page: MetricsText? {
        if case .page(let page) = answer { page } else { nil }
    }
}

/// Increases of counters between two scrapes of an instance, in a second.
struct TopRates: Sendable {
    let before: TopScrape?
    let now: TopScrape

    private var seconds: Double? {
        guard let before, now.time > before.time else { return nil }
        return now.time - before.time
    }

    /// Nil without a scrape before.
    func rate(of value: Double, before: Double?) -> Double? {
        guard let seconds else { return nil }
        // A counter that fell began again, with its process.
        let start = before.map { $0 <= value ? $0 : 0 } ?? 0
        return (value - start) / seconds
    }

    /// The totals of a counter by a label, with their rates; empty without a page.
    func rates(_ name: String, by label: String) -> [String: TopTotal] {
        guard let page = now.page else { return [:] }
        guard let former = before?.page else { return page.sums(name, by: label).mapValues { TopTotal(total: $0) } }
        let earlier = former.sums(name, by: label)
        return page.sums(name, by: label).reduce(into: [:]) { totals, entry in
            totals[entry.key] = TopTotal(total: entry.value, rate: rate(of: entry.value, before: earlier[entry.key]))
        }
    }
}

/// A counter's total, and its increase in a second where it is known.
struct TopTotal: Sendable, Hashable {
    var total: Double
    var rate: Double?

    static func + (one: TopTotal, other: TopTotal) -> TopTotal {
        let rates = [one.rate, other.rate].compactMap(\.self)
        return TopTotal(total: one.total + other.total, rate: rates.isEmpty ? nil : rates.reduce(0, +))
    }
}
