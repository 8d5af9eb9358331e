import DequeModule
import NIOCore
import NIOHTTP2

/// The answers of a connection that wait for their time, the next one first. Mostly they come in the order of their times.
struct DelayedAnswers {
    struct Item {
        var time: NIODeadline
        var stream: HTTP2StreamID
        var answer: ServerAnswer
        var streams: Int?
    }

    private var items: Deque<Item> = []
    /// Streams that the client has reset since.
    private var reset: Set<HTTP2StreamID> = []

    var isEmpty: Bool { items.isEmpty }
    /// When the next one is due.
    var next: NIODeadline? { items.first?.time }

    mutating func add(_ item: Item) {
        var index = items.endIndex
        while index > items.startIndex, items[index - 1].time > item.time { index -= 1 }
        items.insert(item, at: index)
    }

    /// The stream has nobody to answer to any more.
    mutating func cancel(_ stream: HTTP2StreamID) {
        if !items.isEmpty { reset.insert(stream) }
    }

    /// Takes the next answer that is due.
    mutating func take(at now: NIODeadline) -> Item? {
        while let first = items.first, first.time <= now {
            items.removeFirst()
            let isReset = reset.remove(first.stream) != nil
            if items.isEmpty { reset = [] }
            if !isReset { return first }
        }
        return nil
    }
}
