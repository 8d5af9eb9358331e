import NIOCore
import Synchronization

/// The open connections of a server, by number.
package final class ServerConnections: Sendable {
    /// Connections at most: further ones are closed at once.
    package static let capacity = 10_000

    private struct Contents {
        var last = 0
        var open: [Int: Connection] = [:]
    }

    /// A connection, as others reach it.
    private struct Connection: Sendable {
        let channel: any Channel
        let handler: NIOLoopBound<HTTP2ServerHandler>
    }

    private let contents = Mutex(Contents())

    package init() {}

    /// The next connection's number; nil when there are too many.
    func next() -> Int? {
        contents.withLock { contents in
            guard contents.open.count < Self.capacity else { return nil }
            contents.last += 1
            return contents.last
        }
    }

    func opened(_ number: Int, _ channel: any Channel, _ handler: NIOLoopBound<HTTP2ServerHandler>) {
        contents.withLock { $0.open[number] = Connection(channel: channel, handler: handler) }
    }

    func closed(_ number: Int) { contents.withLock { $0.open[number] = nil } }

    /// The numbers of the connections whose handshake has succeeded.
    package var numbers: [Int] { contents.withLock { $0.open }.keys.sorted() }

    /// Does something with a connection, on its event loop.
    ///
    /// - Returns: Nil when there is none with this number.
    package func on<Result: Sendable>(
        _ number: Int,
        _ body: @escaping @Sendable (HTTP2ServerHandler) -> Result
    ) async -> Result? {
        guard let connection = contents.withLock({ $0.open[number] }) else { return nil }
        return try? await connection.channel.eventLoop.submit { body(connection.handler.value) }.get()
    }

    /// GOAWAY to all. What was processed is answered first, for a second at most.
    ///
    /// - Parameter data: Debug data.
    package func stop(_ data: [UInt8]) async {
        for number in numbers { await on(number) { $0.goAway(data) } }
        let deadline = ContinuousClock.now + .seconds(1)
        while !numbers.isEmpty, .now < deadline {
            guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { break }
        }
        for number in numbers { await on(number) { $0.cut() } }
    }

    /// Whether GOAWAY may name it: none, or a stream of a client.
    package static func isStream(_ number: Int) -> Bool {
        number == 0 || (1...Int(Int32.max)).contains(number) && !number.isMultiple(of: 2)
    }
}
