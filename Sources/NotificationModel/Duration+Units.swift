extension Duration {
    /// Whole milliseconds, rounded towards zero and limited to the range of the type.
    package var milliseconds: Int64 { whole(1_000) }

    /// Whole microseconds, rounded towards zero and limited to the range of the type.
    package var microseconds: Int64 { whole(1_000_000) }

    /// Whole nanoseconds, rounded towards zero and limited to the range of the type.
    package var nanoseconds: Int64 { whole(1_000_000_000) }

    @inline(__always)
    private func whole(_ perSecond: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (scaled, isTooLong) = seconds.multipliedReportingOverflow(by: perSecond)
        guard !isTooLong else { return seconds < 0 ? .min : .max }
        let (sum, isTooMuch) = scaled.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / perSecond))
        return isTooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
