import NotificationDelivery
import DequeModule

/// Waiting work: higher priorities first, equal ones in order. Nothing starves: work that waits goes before a higher
/// priority once that one has gone before it `patience` times in a row.
struct WorkQueue<Item> {
    static var patience: Int { 16 }

    private var levels = WorkPriority.allCases.map { _ in Deque<Item>() }
    /// How often in a row another level went before each.
    private var passedOver = WorkPriority.allCases.map { _ in 0 }
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: Item, _ priority: WorkPriority) {
        levels[priority.rawValue].append(item)
        count += 1
    }

    /// Whether work of the highest priority waits.
    var hasHigh: Bool { !levels[WorkPriority.high.rawValue].isEmpty }

    /// Takes work of the highest priority only.
    mutating func popHigh() -> Item? {
        guard hasHigh else { return nil }
        count -= 1
        return levels[WorkPriority.high.rawValue].popFirst()
    }

    mutating func popFirst() -> Item? {
        guard let first = levels.firstIndex(where: { !$0.isEmpty }) else { return nil }
        let impatient = levels.indices.last { !levels[$0].isEmpty && passedOver[$0] >= Self.patience }
        let chosen = impatient ?? first
        for level in levels.indices where level > first && !levels[level].isEmpty { passedOver[level] += 1 }
        passedOver[chosen] = 0
        count -= 1
        return levels[chosen].popFirst()
    }

    /// Removes matching items.
    ///
    /// - Returns: them, higher priorities first.
    mutating func remove(where isNeedless: (Item) -> Bool) -> [Item] {
        guard count > 0 else { return [] }
        var removed: [Item] = []
        for level in levels.indices where !levels[level].isEmpty {
            removed += levels[level].filter(isNeedless)
            levels[level].removeAll(where: isNeedless)
        }
        count -= removed.count
        return removed
    }
}
