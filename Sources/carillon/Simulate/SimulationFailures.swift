import CarillonSimulation
import ServiceSupport

/// The seeds that broke a rule, by the rule.
struct SimulationFailures {
    private struct Group {
        var seeds: [UInt64]
        /// Of the first seed.
        var detail: String
    }

    private var groups: [Violation.Rule: Group] = [:]

    var count: Int { groups.values.reduce(0) { $0 + $1.seeds.count } }
    var isEmpty: Bool { groups.isEmpty }

    mutating func add(_ violation: Violation, of seed: UInt64) {
        groups[violation.rule, default: Group(seeds: [], detail: violation.detail)].seeds.append(seed)
    }

    /// For each rule, the most frequent first: its seeds, what was wrong in the first of them, and how to run it again. Empty
    /// when nothing failed.
    ///
    /// - Parameter command: runs a seed again.
    func text(command: (UInt64) -> String) -> String {
        let sorted = groups.sorted { ($1.value.seeds.count, $0.key.rawValue) < ($0.value.seeds.count, $1.key.rawValue) }
        return sorted.map { rule, group in
            let seeds = group.seeds.map(String.init).joined(separator: " ")
            return """
                broken \(group.seeds.count == 1 ? "once" : "\(group.seeds.count) times"): \(rule.rawValue)
                  seeds   \(seeds)
                  \(RecordText.safe(group.detail))
                  again   \(command(group.seeds[0]))

                """
        }.joined()
    }
}
