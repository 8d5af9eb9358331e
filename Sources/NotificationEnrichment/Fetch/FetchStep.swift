import NIOHTTP1
package import OutboundHTTP
import Synchronization

/// What a fetch has just done, for a tool that explains it. A fetch that shares the download of another one reports
/// only what happens after it joined.
package enum FetchStep: Hashable, Sendable {
    /// The URL is allowed, and the medium is not known or not fresh.
    case requested(origin: String)
    /// The fetch waits for a download of the same URL that another one began.
    case joined
    /// The addresses of the host, and why they are refused.
    case resolved([IPAddress], refusal: EgressRefusal?)
    case connected(IPAddress, isReused: Bool)
    /// The TLS handshake has ended and the certificate is valid for the host.
    case secured
    /// The head of an answer; `contentLength` as the server said.
    case answered(status: Int, contentType: String?, contentLength: Int64?)
    case redirected(status: Int, origin: String)
    /// The bytes are whole, and of this type.
    case checked(MediaFacts)
    case stored(StoredMedia)
    /// Known and fresh.
    case cached(StoredMedia)
    /// Known, and the server says that it has not changed.
    case revalidated(StoredMedia)
    /// The fetch ends without the medium.
    case refused(OutboundFailure)
}

/// Reports the steps of a fetch until it has returned.
final class StepObserver: Sendable {
    private let report: Mutex<(@Sendable (FetchStep) -> Void)?>

    init(_ report: @escaping @Sendable (FetchStep) -> Void) { self.report = Mutex(report) }

    func report(_ step: FetchStep) { report.withLock { $0 }?(step) }

    func end() { report.withLock { $0 = nil } }
}

/// The progress of a download, which several fetches may share.
final class DownloadProgress: ExchangeObserver {
    private struct Contents {
        var phase = OutboundPhase.resolving
        var observers: [StepObserver] = []
    }

    private let contents = Mutex(Contents())

    var phase: OutboundPhase { contents.withLock { $0.phase } }

    func enter(_ phase: OutboundPhase) { contents.withLock { $0.phase = phase } }

    func resolved(_ addresses: [IPAddress], refusal: EgressRefusal?) { report(.resolved(addresses, refusal: refusal)) }

    func connected(to address: IPAddress, isReused: Bool) { report(.connected(address, isReused: isReused)) }

    func secured() { report(.secured) }

    func answered(_ head: HTTPResponseHead) {
        report(
            .answered(
                status: Int(clamping: head.status.code),
                contentType: head.headers.first(name: "content-type"),
                contentLength: AnswerPlan.contentLength(head)
            )
        )
    }

    func add(_ observer: StepObserver) { contents.withLock { $0.observers.append(observer) } }

    func report(_ step: @autoclosure () -> FetchStep) {
        let observers = contents.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        let step = step()
        for observer in observers { observer.report(step) }
    }
}
