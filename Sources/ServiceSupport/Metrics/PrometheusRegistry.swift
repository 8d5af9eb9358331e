public import CoreMetrics
import Synchronization

/// The back end of swift-metrics that `/metrics` shows in the Prometheus text format.
///
/// Use it as the process-wide system (`MetricsSystem.bootstrap(registry)`) or hand it over (`Counter(label:dimensions:factory:)`);
/// handles with equal names and labels share one value, so two services of one process can share one registry.
///
/// Names: `requests.read` of a counter is `carillon_requests_read_total`; a timer's ends in `_seconds` and a recorder's is as given,
/// both as histograms; a gauge or meter is as given, without endings that belong to others (`_total`, `_count`, `_sum`, `_bucket`).
///
/// Making a handle takes a lock and a search: keep it. Using a counter or gauge is one atomic operation, a histogram two.
///
/// The number of series is bounded by `maximumSeries`. At the bound a new one is not kept: its handle works and is not shown, and
/// `carillon_metrics_dropped_series_total` counts it.
public final class PrometheusRegistry: MetricsFactory, Sendable {
    /// How many series are kept when nothing else is said.
    public static let defaultMaximumSeries = 10_000

    /// What a series is worth at this moment.
    private enum Cell {
        case counter(CounterCell)
        case floatingPointCounter(FloatingPointCounterCell)
        case gauge(GaugeCell)
        case histogram(HistogramCell)
    }

    private struct Series {
        var cell: Cell
        /// How many handles use it; the last one destroyed takes the series with it.
        var handles: Int
    }

    private struct Family {
        var kind: MetricsPage.Kind
        var label: String
        var series: [String: Series] = [:]
    }

    /// Where a handle's series is, to find it again when the handle is destroyed.
    private struct Place {
        var name: String
        var labels: String
    }

    private struct State {
        var families: [String: Family] = [:]
        var places: [ObjectIdentifier: Place] = [:]
        /// By the bare name, since services may spell one metric as `dead.letters` and as `carillon_dead_letters_total`.
        var helpByName: [String: String] = [:]
        var bucketsByName: [String: HistogramBuckets] = [:]
        var collectors: [Int: @Sendable (inout MetricsPage) -> Void] = [:]
        var nextCollector = 0
        var seriesCount = 0
        var dropped: Int64 = 0
    }

    private let maximumSeries: Int
    private let state = Mutex(State())
    private let process = ProcessMetrics()

    /// An empty registry.
    ///
    /// - Parameter maximumSeries: How many series are kept, at least 1.
    public init(maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
        self.maximumSeries = max(1, maximumSeries)
    }

    /// The help text of a metric that nobody described.
    public static let undescribed = "(not described)"

    /// Says what a metric is, before or after it is made.
    ///
    /// - Parameters:
    ///   - label: The label as it is given to swift-metrics.
    ///   - help: One sentence.
    ///   - buckets: For timers and recorders, in base units; counts for handles made later.
    public func describe(_ label: String, _ help: String, buckets: HistogramBuckets? = nil) {
        state.withLock { state in
            state.helpByName[MetricNames.gauge(label)] = help
            if let buckets { state.bucketsByName[MetricNames.gauge(label)] = buckets }
        }
    }

    /// Adds values that are computed at each scrape.
    ///
    /// - Parameter closure: Called for every scrape on the server's thread: it must be quick, must not block, and must not call
    ///   the registry.
    /// - Returns: Ends the collection when cancelled; may be thrown away when it lasts as long as the process.
    @discardableResult
    public func collect(_ closure: @escaping @Sendable (inout MetricsPage) -> Void) -> MetricsCollection {
        let id = state.withLock { state in
            state.nextCollector += 1
            state.collectors[state.nextCollector] = closure
            return state.nextCollector
        }
        return MetricsCollection { [weak self] in
            _ = self?.state.withLock { $0.collectors.removeValue(forKey: id) }
        }
    }

    /// The page for `/metrics`, in the text format version 0.0.4.
    public func exposition() -> String {
        // Collectors run without the lock; they may take locks of their own.
        let (families, help, collectors) = state.withLock { state in
            (state.families, state.helpByName, state.collectors.sorted { $0.key < $1.key }.map(\.value))
        }
        var page = MetricsPage(maximumSeries: maximumSeries + Self.ownSeries)
        page.add(
            "carillon_build_info",
            .gauge,
            "The version that runs, as labels; always 1.",
            labels: [("version", CarillonVersion.current)],
            value: "1"
        )
        process.collect(into: &page)
        for (name, family) in families {
            let text = help[MetricNames.gauge(family.label)] ?? Self.undescribed
            for (labels, series) in family.series {
                page.add(name, family.kind, text, labelText: labels, lines: Self.lines(name, labels, series.cell))
            }
        }
        for collector in collectors {
            collector(&page)
        }
        let dropped = state.withLock { state in
            state.dropped += page.dropped
            return state.dropped
        }
        page.addUnbounded(
            "carillon_metrics_dropped_series_total",
            .counter,
            "Series that were not kept because their number is bounded or their name has another type.",
            value: "\(dropped)"
        )
        return Exposition.write(page)
    }

    /// The registry's own lines do not count against the bound.
    private static let ownSeries = 4

    private static func lines(_ name: String, _ labels: String, _ cell: Cell) -> [String] {
        let value: String
        switch cell {
        case .counter(let cell): value = "\(cell.value)"
        case .floatingPointCounter(let cell): value = Exposition.number(cell.value)
        case .gauge(let cell): value = Exposition.number(cell.value)
        case .histogram(let cell): return Exposition.histogram(name, labels: labels, cell)
        }
        return ["\(name)\(Exposition.braces(labels)) \(value)"]
    }

    // MARK: - Making and destroying

    /// Finds or adds a series. At the bound, or when the name has another type, the new cell is returned and not kept.
    private func series<Handle: AnyObject>(
        _ name: String,
        _ kind: MetricsPage.Kind,
        label: String,
        dimensions: [(String, String)],
        existing: (Cell) -> Handle?,
        make: (HistogramBuckets?) -> (Handle, Cell)
    ) -> Handle {
        let labels = Exposition.labels(dimensions)
        return state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind, label: label)
            if var series = family.series[labels], let handle = existing(series.cell) {
                series.handles += 1
                family.series[labels] = series
                state.families[name] = family
                return handle
            }
            let (handle, cell) = make(state.bucketsByName[MetricNames.gauge(label)])
            guard family.kind == kind, family.series[labels] == nil, state.seriesCount < maximumSeries else {
                state.dropped += 1
                return handle
            }
            family.series[labels] = Series(cell: cell, handles: 1)
            state.families[name] = family
            state.places[ObjectIdentifier(handle)] = Place(name: name, labels: labels)
            state.seriesCount += 1
            return handle
        }
    }

    private func destroy(_ handle: AnyObject) {
        state.withLock { state in
            let id = ObjectIdentifier(handle)
            guard let place = state.places[id], var family = state.families[place.name],
                var series = family.series[place.labels]
            else { return }
            series.handles -= 1
            family.series[place.labels] = series.handles > 0 ? series : nil
            state.families[place.name] = family.series.isEmpty ? nil : family
            if series.handles == 0 {
                state.places[id] = nil
                state.seriesCount -= 1
            }
        }
    }

    /// Makes a counter; its name gets `_total`.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = MetricNames.counter(label)
        let handle: CounterCell = series(name, .counter, label: label, dimensions: dimensions) {
            if case .counter(let cell) = $0 { cell } else { nil }
        } make: { _ in
            let cell = CounterCell()
            return (cell, .counter(cell))
        }
        return handle
    }

    /// Makes a counter of amounts; its name gets `_total`.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        let name = MetricNames.counter(label)
        let handle: FloatingPointCounterCell = series(name, .counter, label: label, dimensions: dimensions) {
            if case .floatingPointCounter(let cell) = $0 { cell } else { nil }
        } make: { _ in
            let cell = FloatingPointCounterCell()
            return (cell, .floatingPointCounter(cell))
        }
        return handle
    }

    /// Makes a gauge that can be raised and lowered.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    /// Makes a histogram, or a gauge when it does not aggregate.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? histogram(MetricNames.gauge(label), label, dimensions) : gauge(label, dimensions)
    }

    /// Makes a histogram of seconds; its name gets `_seconds`.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(MetricNames.timer(label), label, dimensions)
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeCell {
        series(MetricNames.gauge(label), .gauge, label: label, dimensions: dimensions) {
            if case .gauge(let cell) = $0 { cell } else { nil }
        } make: { _ in
            let cell = GaugeCell()
            return (cell, .gauge(cell))
        }
    }

    private func histogram(_ name: String, _ label: String, _ dimensions: [(String, String)]) -> HistogramCell {
        series(name, .histogram, label: label, dimensions: dimensions) {
            if case .histogram(let cell) = $0 { cell } else { nil }
        } make: { buckets in
            let byName: HistogramBuckets =
                if name.hasSuffix("_seconds") { .seconds } else if name.hasSuffix("_bytes") { .bytes } else { .counts }
            let cell = HistogramCell(bounds: (buckets ?? byName).bounds)
            return (cell, .histogram(cell))
        }
    }

    /// Forgets a counter when no other handle uses its series.
    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    /// Forgets a counter when no other handle uses its series.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    /// Forgets a gauge when no other handle uses its series.
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    /// Forgets a histogram or gauge when no other handle uses its series.
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    /// Forgets a histogram when no other handle uses its series.
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}

/// A collector that was added to a registry.
public struct MetricsCollection: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    /// Ends it; its values are gone from the next scrape.
    public func cancel() {
        end()
    }
}
