/// Which part of the traffic may be repeats: a token bucket that first attempts fill and repeats empty. During an outage the
/// load grows by that part only, and is not doubled.
///
/// A value: what sends requests keeps it, next to its other states.
package struct RetryBudget: Sendable {
    /// A token is so many parts, so that sums are exact.
    private static let token = 1_000_000
    private let share: Int
    private let bound: Int
    private var parts: Int

    /// - Parameters:
    ///   - share: Repeats for each first attempt, 0 to 1: 0.1 to 0.2 is usual.
    ///   - reserve: Repeats that are allowed at once, also at first and while there is little traffic; 0 to 1,000,000.
    package init(share: Double = 0.1, reserve: Int = 100) {
        self.share = Int(max(0, min(1, share)) * Double(Self.token))
        bound = max(0, min(1_000_000, reserve)) * Self.token
        parts = bound
    }

    /// A request is sent for the first time.
    package mutating func noteFirstAttempt() { parts = min(bound, parts + share) }

    /// Takes a repeat from the budget.
    ///
    /// - Returns: False when it is spent: do not repeat now.
    package mutating func takeRepeat() -> Bool {
        guard parts >= Self.token else { return false }
        parts -= Self.token
        return true
    }
}
