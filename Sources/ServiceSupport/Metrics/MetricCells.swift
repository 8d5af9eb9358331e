import CoreMetrics
import Synchronization

/// A number that any thread may change without a lock. Writes are relaxed: a scrape may miss the latest one, but never
/// sees a torn value.
final class AtomicDouble: Sendable {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func add(_ amount: Double) {
        var current = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: current) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: current, desired: new, ordering: .relaxed)
            if exchanged { return }
            current = original
        }
    }
}

/// A counter of whole numbers: one atomic addition per increment. Ignores negative amounts, because a counter never
/// falls.
final class CounterCell: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) {
        if amount > 0 { count.wrappingAdd(amount, ordering: .relaxed) }
    }

    func reset() {
        count.store(0, ordering: .relaxed)
    }
}

/// A counter of fractional amounts, for example seconds.
final class FloatingPointCounterCell: FloatingPointCounterHandler {
    private let sum = AtomicDouble()

    var value: Double { sum.value }

    func increment(by amount: Double) {
        if amount > 0 && amount.isFinite { sum.add(amount) }
    }

    func reset() {
        sum.set(0)
    }
}

/// A value that rises and falls: swift-metrics' `Gauge` (a recorder that does not aggregate) and `Meter`.
final class GaugeCell: MeterHandler, RecorderHandler {
    private let number = AtomicDouble()

    var value: Double { number.value }

    func set(_ value: Int64) { number.set(Double(value)) }
    func set(_ value: Double) { number.set(value) }
    func increment(by amount: Double) { number.add(amount) }
    func decrement(by amount: Double) { number.add(-amount) }
    func record(_ value: Int64) { number.set(Double(value)) }
    func record(_ value: Double) { number.set(value) }
}

/// A distribution: swift-metrics' `Recorder` and `Timer`.
final class HistogramCell: RecorderHandler, TimerHandler {
    let bounds: [Double]
    /// One for each bound and one for values above the last.
    private let counts: [CounterCell]
    private let total = AtomicDouble()

    init(bounds: [Double]) {
        self.bounds = bounds
        self.counts = (0...bounds.count).map { _ in CounterCell() }
    }

    /// Counts by bucket, not cumulative, and the sum. The total of the buckets is the count, so a scrape is consistent.
    var value: (counts: [Int64], sum: Double) {
        (counts.map(\.value), total.value)
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        // For few bounds a linear search is faster than a binary one.
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[index].increment(by: 1)
        total.add(value)
    }

    func recordNanoseconds(_ duration: Int64) {
        record(Double(duration) / 1_000_000_000)
    }
}
