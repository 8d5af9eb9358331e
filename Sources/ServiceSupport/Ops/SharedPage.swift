import NIOCore
import Synchronization

/// The page of metrics for everybody who asks at one time: it is made once for all who wait, on the server's own thread, so
/// that who asks without pause makes nobody else wait.
final class SharedPage: Sendable {
    private let loop: any EventLoop
    private let registry: PrometheusRegistry
    private let waiting = Mutex<[CheckedContinuation<ByteBuffer, Never>]>([])

    init(on loop: any EventLoop, _ registry: PrometheusRegistry) {
        self.loop = loop
        self.registry = registry
    }

    /// The page as it is now; what was made before the call does not count.
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
