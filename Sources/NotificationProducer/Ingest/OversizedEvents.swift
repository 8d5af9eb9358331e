/// Events whose records the broker refused as too large. Reading such an event again would be refused again, so the next time
/// it becomes a dead letter, and if even that is refused, a dead letter without its value.
final class OversizedEvents {
    private struct Position: Hashable {
        var partition: Int32
        var offset: Int64
    }

    private var refusals: [Position: Int] = [:]

    func note(partition: Int32, offset: Int64) {
        refusals[Position(partition: partition, offset: offset), default: 0] += 1
    }

    func refusals(partition: Int32, offset: Int64) -> Int {
        guard !refusals.isEmpty else { return 0 }
        return refusals[Position(partition: partition, offset: offset)] ?? 0
    }
}
