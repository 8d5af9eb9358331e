import Testing
import TestSupport

@testable import NotificationConsumer

struct SlotTableTests {
    /// Hashes whose cells are next to each other, at the end of a small table and at its start.
    private static let hashes: [UInt32] = [0, 1, 2, 13, 14, 15, 16, 30, 31, 32, 63, .max, .max - 1]

    @Test(arguments: 0..<40)
    func `it agrees with a dictionary after any additions, replacements and removals, of equal and of adjacent hashes`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var table = SlotTable()
        var model: [SlotTable.Slot: UInt32] = [:]
        for step in 0..<1_500 {
            let slot = SlotTable.Slot(random.below(40))
            if let hash = model[slot] {
                if random.below(3) == 0 {
                    let other = SlotTable.Slot(100 + step)
                    table.replace(slot, of: hash, by: other)
                    (model[slot], model[other]) = (nil, hash)
                } else {
                    table.remove(slot, of: hash)
                    model[slot] = nil
                }
            } else {
                let hash = Self.hashes[random.below(Self.hashes.count)]
                table.insert(slot, of: hash)
                model[slot] = hash
            }
            for (slot, hash) in model where slot >= 100 && random.below(4) == 0 {
                table.remove(slot, of: hash)
                model[slot] = nil
            }
            for hash in Self.hashes {
                var found: Set<SlotTable.Slot> = []
                #expect(table.first(of: hash) { !found.insert($0).inserted } == nil)
                #expect(found == Set(model.filter { $0.value == hash }.keys))
            }
        }
    }

    @Test func `what is not in it is not found, replaced or removed`() {
        var table = SlotTable()
        #expect(table.first(of: 7) { _ in true } == nil)
        table.remove(3, of: 7)
        table.insert(3, of: 7)
        table.remove(4, of: 7)
        table.replace(4, of: 7, by: 5)
        #expect(table.first(of: 7) { _ in true } == 3)
        #expect(table.first(of: 8) { _ in true } == nil)
    }
}
