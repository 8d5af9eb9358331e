import Synchronization

/// What threads leave for the event loop of a pool, and what the pool tells them. It is emptied at each turn of the loop.
final class HTTP2PoolInbox: Sendable {
    private struct Contents {
        var requests: [HTTP2Request] = []
        var cancelled: [HTTP2Request] = []
        var isTold = false

        /// - Returns: Whether the loop must be told.
        mutating func tell() -> Bool {
            defer { isTold = true }
            return !isTold
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

    /// Adds a request of which the loop need not be told before `flush`.
    ///
    /// - Returns: Whether `flush` must follow: nobody else has to call it, nor is the loop told.
    func write(_ request: HTTP2Request) -> Bool {
        contents.withLock { contents in
            contents.requests.append(request)
            return contents.requests.count == 1 && !contents.isTold
        }
    }

    /// - Returns: As `add`; false when nothing was written.
    func flush() -> Bool { contents.withLock { !$0.requests.isEmpty && $0.tell() } }

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
            contents.isTold = false
            guard !contents.requests.isEmpty || !contents.cancelled.isEmpty else { return ([], []) }
            defer { (contents.requests, contents.cancelled) = ([], []) }
            return (contents.requests, contents.cancelled)
        }
    }
}
