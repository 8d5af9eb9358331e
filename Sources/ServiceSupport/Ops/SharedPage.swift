import NIOCore
import Synchronization

/// The metrics page for all concurrent scrapes: it is built once for all waiting callers, on the server's own thread,
/// so that a client that scrapes continuously does not delay the others.
final class SharedPage: Sendable {
    private let loop: any EventLoop
    private let registry: PrometheusRegistry
    private let waiting = Mutex<[CheckedContinuation<ByteBuffer, Never>]>([])

    init(on loop: any EventLoop, _ registry: PrometheusRegistry) {
        self.loop = loop
        self.registry = registry
    }

    /// The current page; a page built before the call does not count.
    func page() async -> ByteBuffer {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.append(continuation)
                return waiting.count == 1
            }
            if isFirst { loop.execute { [self] in make() } }
        }
    }

    var waitingForTest: Int { waiting.withLock { $0.count } }

    private func make() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let page = ByteBuffer(string: registry.exposition())
        for continuation in all { continuation.resume(returning: page) }
    }
}
