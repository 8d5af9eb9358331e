import NIOCore

/// Keeps connections away from addresses that fail: each has a pause that doubles with every failure, and then one
/// connection that tests it.
struct AddressBreakers: Sendable {
    private struct Breaker {
        /// In a row.
        var failures: Int
        var end: NIODeadline
    }

    private let first: TimeAmount
    private let longest: TimeAmount
    /// Only of addresses that fail.
    private var breakers: [IPAddress: Breaker] = [:]
    /// Of the look-up of the host.
    private var lookUp = Breaker(failures: 0, end: .distantPast)

    /// - Parameters:
    ///   - first: The pause after the first failure.
    ///   - longest: The longest pause.
    init(first: TimeAmount, longest: TimeAmount) { (self.first, self.longest) = (first, longest) }

    /// No address can be had before that.
    var end: NIODeadline { lookUp.end }

    /// - Parameter jitter: 0 to below 1; shortens the pause by up to a quarter, so that instances do not come back at the same
    ///   time.
    mutating func fail(_ address: IPAddress, at now: NIODeadline, jitter: Double) {
        let failures = (breakers[address]?.failures ?? 0) + 1
        breakers[address] = Breaker(failures: failures, end: now + pause(failures, jitter))
    }

    mutating func succeed(_ address: IPAddress) {
        // Called for each answer.
        if !breakers.isEmpty { breakers[address] = nil }
    }

    /// The host has no address, or none that the policy allows.
    mutating func failLookUp(at now: NIODeadline, jitter: Double) {
        lookUp.failures += 1
        lookUp.end = now + pause(lookUp.failures, jitter)
    }

    /// Chooses where a connection goes.
    ///
    /// - Parameters:
    ///   - addresses: That the host has now; others are forgotten.
    ///   - connections: How many connections go to each.
    ///   - tested: To which a connection goes that has had no answer yet.
    ///   - now: The time.
    ///   - random: 0 to below 1; decides between equal ones.
    /// - Returns: The one with the fewest connections; nil when all fail: then `end` is when the first can be tested.
    mutating func choose(
        among addresses: [IPAddress],
        connections: [IPAddress: Int],
        tested: Set<IPAddress>,
        at now: NIODeadline,
        random: Double
    ) -> IPAddress? {
        lookUp = Breaker(failures: 0, end: .distantPast)
        breakers = breakers.filter { addresses.contains($0.key) || connections[$0.key] != nil }
        let open = addresses.filter { address in
            guard let breaker = breakers[address] else { return true }
            return breaker.end <= now && !tested.contains(address)
        }
        guard let fewest = open.map({ connections[$0] ?? 0 }).min() else {
            // A test that is under way ends with an answer or a longer pause.
            lookUp.end = addresses.compactMap { breakers[$0]?.end }.filter { $0 > now }.min() ?? now + first
            return nil
        }
        let best = open.filter { connections[$0] ?? 0 == fewest }
        return best[min(best.count - 1, Int(random * Double(best.count)))]
    }

    private func pause(_ failures: Int, _ jitter: Double) -> TimeAmount {
        let doubled = Double(first.nanoseconds) * Double(1 << min(32, failures - 1))
        return .nanoseconds(Int64(min(doubled, Double(longest.nanoseconds)) * (1 - jitter / 4)))
    }
}
