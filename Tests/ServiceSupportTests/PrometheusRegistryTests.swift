import CoreMetrics
import Metrics
import Testing

@testable import ServiceSupport

@Suite("The metrics registry")
struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry()

    private func lines(_ name: String) -> [String] {
        registry.exposition().split(separator: "\n").map(String.init).filter { line in
            line.hasPrefix(name + " ") || line.hasPrefix(name + "{") || line.hasPrefix(name + "_")
        }
    }

    @Test func `a counter has its prefix, its suffix and its labels`() {
        Counter(label: "requests.read", dimensions: [("topic", "requests"), ("a-b", "1")], factory: registry).increment(
            by: 3
        )
        #expect(
            lines("carillon_requests_read_total") == ["carillon_requests_read_total{a_b=\"1\",topic=\"requests\"} 3"]
        )
    }

    @Test func `the prefix and the suffix are not doubled`() {
        Counter(label: "carillon_events_total", factory: registry).increment()
        #expect(lines("carillon_events_total") == ["carillon_events_total 1"])
    }

    @Test func `handles with equal names and labels share one value, in any order of labels`() {
        Counter(label: "c", dimensions: [("x", "1"), ("y", "2")], factory: registry).increment()
        Counter(label: "c", dimensions: [("y", "2"), ("x", "1")], factory: registry).increment()
        #expect(lines("carillon_c_total") == ["carillon_c_total{x=\"1\",y=\"2\"} 2"])
    }

    @Test func `no increment is lost under concurrency`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [registry] in
                    let counter = Counter(label: "hits", factory: registry)
                    let amount = FloatingPointCounter(label: "seconds", factory: registry)
                    let timer = Metrics.Timer(label: "work", factory: registry)
                    let meter = Meter(label: "level", factory: registry)
                    for _ in 0..<5_000 {
                        counter.increment()
                        amount.increment(by: 0.5)
                        timer.recordMilliseconds(2)
                        meter.increment(by: 1)
                    }
                }
            }
        }
        #expect(lines("carillon_hits_total") == ["carillon_hits_total 40000"])
        #expect(lines("carillon_seconds_total") == ["carillon_seconds_total 20000"])
        #expect(lines("carillon_level") == ["carillon_level 40000"])
        #expect(lines("carillon_work_seconds").contains("carillon_work_seconds_count 40000"))
    }

    @Test func `a counter never falls`() {
        let counter = Counter(label: "c", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        #expect(lines("carillon_c_total") == ["carillon_c_total 5"])
    }

    @Test func `a timer is a histogram of seconds with cumulated buckets`() {
        registry.describe("delivery.duration", "How long a delivery took.", buckets: .init([1, 0.1, .infinity]))
        let timer = Metrics.Timer(label: "delivery.duration", dimensions: [("channel", "events")], factory: registry)
        timer.recordMilliseconds(50)
        timer.recordMilliseconds(100)
        timer.recordSeconds(3)
        let name = "carillon_delivery_duration_seconds"
        #expect(
            lines(name) == [
                "\(name)_bucket{channel=\"events\",le=\"0.1\"} 2", "\(name)_bucket{channel=\"events\",le=\"1\"} 2",
                "\(name)_bucket{channel=\"events\",le=\"+Inf\"} 3", "\(name)_sum{channel=\"events\"} 3.15",
                "\(name)_count{channel=\"events\"} 3",
            ]
        )
        #expect(registry.exposition().contains("# HELP \(name) How long a delivery took.\n# TYPE \(name) histogram\n"))
    }

    @Test func `a help text is found by every spelling of the name, and a missing one is marked`() {
        registry.describe("dead.letters", "Records that could not be used.")
        Counter(label: "carillon_dead_letters_total", factory: registry).increment()
        Counter(label: "requests.read", factory: registry).increment()
        #expect(registry.exposition().contains("# HELP carillon_dead_letters_total Records that could not be used.\n"))
        #expect(registry.exposition().contains("# HELP carillon_requests_read_total (not described)\n"))
    }

    @Test func `a gauge of swift-metrics keeps the last value, a recorder the distribution`() {
        Gauge(label: "pending", factory: registry).record(4)
        Gauge(label: "pending", factory: registry).record(2.5)
        Recorder(label: "request.size.bytes", factory: registry).record(300)
        #expect(lines("carillon_pending") == ["carillon_pending 2.5"])
        #expect(lines("carillon_request_size_bytes").contains("carillon_request_size_bytes_bucket{le=\"1024\"} 1"))
    }

    @Test func `label values are escaped, and one label appears once`() {
        let labels = [("reason", "a\"b\\c\nd"), ("le", "x"), ("reason", "say \"hi\"\\\n"), ("9", "ü")]
        Counter(label: "odd", dimensions: labels, factory: registry).increment()
        #expect(
            lines("carillon_odd_total") == [#"carillon_odd_total{_9="ü",label_le="x",reason="say \"hi\"\\\n"} 1"#]
        )
    }

    @Test func `above the limit a series is not kept, its handle works, and it is counted`() {
        let registry = PrometheusRegistry(maximumSeries: 3)
        let counters = (0..<5).map { Counter(label: "c", dimensions: [("n", "\($0)")], factory: registry) }
        for counter in counters { counter.increment() }
        let page = registry.exposition()
        #expect(page.split(separator: "\n").filter { $0.hasPrefix("carillon_c_total") }.count == 3)
        #expect(page.contains("carillon_metrics_dropped_series_total 2\n"))
        counters[0].destroy()
        Counter(label: "late", factory: registry).increment()
        #expect(registry.exposition().contains("carillon_late_total 1\n"))
    }

    @Test func `a series is removed with its last handle`() {
        let first = Counter(label: "c", factory: registry)
        let second = Counter(label: "c", factory: registry)
        second.increment()
        first.destroy()
        #expect(lines("carillon_c_total") == ["carillon_c_total 1"])
        second.destroy()
        #expect(lines("carillon_c_total").isEmpty)
    }

    @Test func `one name keeps one type`() {
        Gauge(label: "x", factory: registry).record(1)
        Recorder(label: "x", factory: registry).record(1)
        #expect(lines("carillon_x") == ["carillon_x 1"])
        #expect(lines("carillon_metrics_dropped_series_total") == ["carillon_metrics_dropped_series_total 1"])
    }

    @Test func `collectors of two services add to one family and end when cancelled`() {
        registry.collect { $0.gauge("consumer.lag.records", help: "Lag.", value: 5, labels: [("partition", "0")]) }
        let second = registry.collect { page in
            page.gauge("consumer.lag.records", help: "Lag.", value: 7, labels: [("partition", "1")])
            page.counter("consumer.polls", help: "Polls.", value: 2)
        }
        #expect(lines("carillon_consumer_lag_records").count == 2)
        #expect(lines("carillon_consumer_polls_total") == ["carillon_consumer_polls_total 2"])
        second.cancel()
        #expect(lines("carillon_consumer_lag_records") == ["carillon_consumer_lag_records{partition=\"0\"} 5"])
    }

    @Test func `version and process are shown under their standard names`() throws {
        #expect(lines("carillon_build_info") == ["carillon_build_info{version=\"\(CarillonVersion.current)\"} 1"])
        for name in ["process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total"] {
            let line = try #require(lines(name).first)
            #expect(try #require(Double(line.split(separator: " ")[1])) > 0)
        }
    }

    @Test func `numbers are written in the format's form`() {
        #expect(Exposition.number(3) == "3")
        #expect(Exposition.number(-0.5) == "-0.5")
        #expect(Exposition.number(1e-7) == "1e-07")
        #expect(Exposition.number(.infinity) == "+Inf")
        #expect(Exposition.number(-.infinity) == "-Inf")
        #expect(Exposition.number(.nan) == "NaN")
    }
}
