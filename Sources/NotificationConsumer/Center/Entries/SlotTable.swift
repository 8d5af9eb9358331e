/// Finds slots by a hash: open addressing with linear probing, a cell of eight bytes a slot. Several slots may have the same hash.
///
/// The hashes are of `Hasher`, whose seed no sender knows, so their low bits are as good a place as any.
struct SlotTable {
    typealias Slot = Int32

    private struct Cell {
        var hash: UInt32 = 0
        /// -1 in a free cell.
        var slot: Slot = -1
    }

    /// A power of two, at most half of them used; none before the first slot.
    private var cells: [Cell] = []
    private var used = 0

    /// The first slot with the hash that the closure accepts.
    func first(of hash: UInt32, where isWanted: (Slot) -> Bool) -> Slot? {
        place(of: hash, where: isWanted).map { cells[$0].slot }
    }

    mutating func insert(_ slot: Slot, of hash: UInt32) {
        if 2 * (used + 1) > cells.count { grow() }
        put(Cell(hash: hash, slot: slot))
        used += 1
    }

    /// Another slot of the same hash takes the place of one.
    mutating func replace(_ slot: Slot, of hash: UInt32, by other: Slot) {
        if let place = place(of: hash, where: { $0 == slot }) { cells[place].slot = other }
    }

    mutating func remove(_ slot: Slot, of hash: UInt32) {
        guard var hole = place(of: hash, where: { $0 == slot }) else { return }
        used -= 1
        // What follows moves up, unless it would be before the place where its search begins.
        var next = following(hole)
        while cells[next].slot >= 0 {
            let distance = (next &- home(of: cells[next].hash)) & (cells.count - 1)
            if distance >= (next &- hole) & (cells.count - 1) {
                cells[hole] = cells[next]
                hole = next
            }
            next = following(next)
        }
        cells[hole] = Cell()
    }

    private func place(of hash: UInt32, where isWanted: (Slot) -> Bool) -> Int? {
        guard !cells.isEmpty else { return nil }
        var place = home(of: hash)
        while cells[place].slot >= 0 {
            if cells[place].hash == hash, isWanted(cells[place].slot) { return place }
            place = following(place)
        }
        return nil
    }

    private mutating func put(_ cell: Cell) {
        var place = home(of: cell.hash)
        while cells[place].slot >= 0 { place = following(place) }
        cells[place] = cell
    }

    private mutating func grow() {
        let old = cells
        cells = Array(repeating: Cell(), count: max(16, 2 * old.count))
        for cell in old where cell.slot >= 0 { put(cell) }
    }

    private func home(of hash: UInt32) -> Int { Int(hash) & (cells.count - 1) }

    private func following(_ place: Int) -> Int { (place + 1) & (cells.count - 1) }
}
