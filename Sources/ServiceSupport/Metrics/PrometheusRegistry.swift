public import CoreMetrics
import Synchronization

/// The swift-metrics back end of `/metrics`, in the Prometheus text format.
///
/// Use it as the process-wide system (`MetricsSystem.bootstrap(registry)`) or pass it explicitly
/// (`Counter(label:dimensions:factory:)`). Handles with equal names and labels share one value, so two services of one
/// process can share one registry.
///
/// Names: a counter `requests.read` becomes `carillon_requests_read_total`. A timer gets the suffix `_seconds`; a
/// recorder keeps its name; both are histograms. A gauge or meter keeps its name without the suffixes of other types
/// (`_total`, `_count`, `_sum`, `_bucket`).
///
/// Creating a handle takes a lock and a lookup: keep the handle. Using a counter or gauge is one atomic operation, a
/// histogram two.
///
/// `maximumSeries` limits the number of series. At the limit a new series is not kept: its handle works but is not
/// shown, and `carillon_metrics_dropped_series_total` counts it.
public final class PrometheusRegistry: MetricsFactory, Sendable {
    /// The default limit of series.
    public static let defaultMaximumSeries = 10_000

    /// The value of a series.
    private enum Cell {
        case counter(CounterCell)
        case floatingPointCounter(FloatingPointCounterCell)
        case gauge(GaugeCell)
        case histogram(HistogramCell)
    }

    private struct Series {
        var cell: Cell
        /// The number of handles that use it; the series is removed with the last one.
        var handles: Int
    }

    private struct Family {
        var kind: MetricsPage.Kind
        var label: String
        var series: [String: Series] = [:]
    }

    /// The position of a handle's series, to find it when the handle is destroyed.
    private struct Place {
        var name: String
        var labels: String
    }

    private struct State {
        var families: [String: Family] = [:]
        var places: [ObjectIdentifier: Place] = [:]
        /// By the bare name, because services may write one metric as `dead.letters` and as
        /// `carillon_dead_letters_total`.
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
    /// - Parameter maximumSeries: The limit of series, at least 1.
    public init(maximumSeries: Int = PrometheusRegistry.defaultMaximumSeries) {
        self.maximumSeries = max(1, maximumSeries)
    }

    /// The help text of a metric without a description.
    public static let undescribed = "(not described)"

    /// Describes a metric, before or after it is created.
    ///
    /// - Parameters:
    ///   - label: The label as passed to swift-metrics.
    ///   - help: One sentence.
    ///   - buckets: For timers and recorders, in base units; applies to handles created later.
    public func describe(_ label: String, _ help: String, buckets: HistogramBuckets? = nil) {
        state.withLock { state in
            state.helpByName[MetricNames.gauge(label)] = help
            if let buckets { state.bucketsByName[MetricNames.gauge(label)] = buckets }
        }
    }

    /// Adds values that are computed at each scrape.
    ///
    /// - Parameter closure: Called for every scrape on the server's thread: it must be quick, must not block, and must
    ///   not call the registry.
    /// - Returns: Cancelling it ends the collection; it may be discarded if the collection lasts as long as the
    ///   process.
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
        // Collectors run without the lock, because they may take locks themselves.
        let (families, help, collectors) = state.withLock { state in
            (state.families, state.helpByName, state.collectors.sorted { $0.key < $1.key }.map(\.value))
        }
        var page = MetricsPage(maximumSeries: maximumSeries + Self.ownSeries)
        page.add(
            "carillon_build_info",
            .gauge,
            "The running version, as labels; always 1.",
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
            "Series that were dropped at the limit or because their name has another type.",
            value: "\(dropped)"
        )
        return Exposition.write(page)
    }

    /// The registry's own series do not count against the limit.
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

    // MARK: - Creating and destroying

    /// Finds or adds a series. At the limit, or when the name has another type, the new cell is returned but not kept.
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

    /// Creates a counter; its name gets `_total`.
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

    /// Creates a counter of fractional amounts; its name gets `_total`.
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

    /// Creates a gauge that can be incremented and decremented.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    /// Creates a histogram, or a gauge when it does not aggregate.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? histogram(MetricNames.gauge(label), label, dimensions) : gauge(label, dimensions)
    }

    /// Creates a histogram of seconds; its name gets `_seconds`.
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

    /// Removes a counter's series unless another handle uses it.
    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    /// Removes a counter's series unless another handle uses it.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    /// Removes a gauge's series unless another handle uses it.
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    /// Removes a histogram's or gauge's series unless another handle uses it.
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    /// Removes a histogram's series unless another handle uses it.
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}

/// A collector that was added to a registry.
public struct MetricsCollection: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    /// Ends it; its values are missing from the next scrape.
    public func cancel() {
        end()
    }
}
