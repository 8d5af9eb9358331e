/// Sorted pairs of numbers in chunks of a few kilobytes, so that an insert moves little data.
struct SortedChunks {
    struct Element: Comparable {
        var first: Int64
        var second: Int64
        static func < (a: Self, b: Self) -> Bool { (a.first, a.second) < (b.first, b.second) }
    }

    private static let largest = 512

    /// No chunk is empty.
    private var chunks: [[Element]] = []
    private(set) var count = 0

    mutating func insert(_ element: Element) {
        count += 1
        // Elements that arrive in order, such as clock times, go to the end.
        guard let last = chunks.last?.last, element < last else {
            if chunks.isEmpty || chunks[chunks.count - 1].count >= Self.largest { chunks.append([]) }
            chunks[chunks.count - 1].append(element)
            return
        }
        let chunk = chunk(of: element)
        chunks[chunk].insert(element, at: Self.place(of: element, in: chunks[chunk]))
        guard chunks[chunk].count > Self.largest else { return }
        let half = Array(chunks[chunk][(Self.largest / 2)...])
        chunks[chunk].removeSubrange((Self.largest / 2)...)
        chunks.insert(half, at: chunk + 1)
    }

    mutating func remove(_ element: Element) {
        let chunk = chunk(of: element)
        guard chunk < chunks.count else { return }
        let place = Self.place(of: element, in: chunks[chunk])
        guard place < chunks[chunk].count, chunks[chunk][place] == element else { return }
        count -= 1
        chunks[chunk].remove(at: place)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// Passes the elements from `start` on to the closure, in order, until it returns false.
    func forEach(from start: Element, _ body: (Element) -> Bool) {
        var chunk = chunk(of: start)
        guard chunk < chunks.count else { return }
        var place = Self.place(of: start, in: chunks[chunk])
        while chunk < chunks.count {
            while place < chunks[chunk].count {
                guard body(chunks[chunk][place]) else { return }
                place += 1
            }
            (chunk, place) = (chunk + 1, 0)
        }
    }

    /// The first chunk whose last element is not before the element.
    private func chunk(of element: Element) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle][chunks[middle].count - 1] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func place(of element: Element, in chunk: [Element]) -> Int {
        var (low, high) = (0, chunk.count)
        while low < high {
            let middle = (low + high) / 2
            if chunk[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
