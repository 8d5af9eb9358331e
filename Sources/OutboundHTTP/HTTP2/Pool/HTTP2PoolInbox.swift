import Synchronization

/// What threads leave for the event loop of a pool, and what the pool tells them. It is emptied at each turn of the loop.
final class HTTP2PoolInbox: Sendable {
    private struct Contents {
        var requests: [HTTP2Request] = []
        var cancelled: [HTTP2Request] = []
        /// The loop has been told.
        var isAwaited = false

        /// - Returns: Whether the loop must be told.
        mutating func tell() -> Bool {
            defer { isAwaited = true }
            return !isAwaited
        }
    }

    private let contents = Mutex(Contents())
    let usage = Mutex(HTTP2PoolUsage())

    /// - Returns: Whether the loop must be told.
    func add(_ request: HTTP2Request) -> Bool {
        contents.withLock { contents in
            contents.requests.append(request)
            return contents.tell()
        }
    }

    /// - Returns: As `add`.
    func cancel(_ request: HTTP2Request) -> Bool {
        contents.withLock { contents in
            contents.cancelled.append(request)
            return contents.tell()
        }
    }

    /// Requests in the order in which they were added, and those that nobody waits for.
    func take() -> (requests: [HTTP2Request], cancelled: [HTTP2Request]) {
        contents.withLock { contents in
            contents.isAwaited = false
            guard !contents.requests.isEmpty || !contents.cancelled.isEmpty else { return ([], []) }
            defer { (contents.requests, contents.cancelled) = ([], []) }
            return (contents.requests, contents.cancelled)
        }
    }
}
