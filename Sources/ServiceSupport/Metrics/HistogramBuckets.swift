/// The upper bounds of a histogram's buckets, ascending; values above the last are counted too.
public struct HistogramBuckets: Sendable, Hashable {
    /// The bounds.
    public let bounds: [Double]

    /// Accepts bounds in any order; drops duplicates and values that are not finite.
    public init(_ bounds: [Double]) {
        self.bounds = Set(bounds.filter(\.isFinite)).sorted()
    }

    /// Seconds from 1 ms to 60 s: the default of timers and of names that end in `seconds`.
    public static let seconds = HistogramBuckets([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ])
    /// Bytes from 256 to 4 MiB: the default of names that end in `bytes`.
    public static let bytes = HistogramBuckets([256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304])
    /// Numbers from 1 to 100,000: the default of everything else.
    public static let counts = HistogramBuckets([1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 10_000, 100_000])
}
