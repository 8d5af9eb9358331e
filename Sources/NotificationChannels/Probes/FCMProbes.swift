import NIOCore
import NIOPosix
import Synchronization

extension FCMProjects {
    /// The servers of FCM once, and an access token for each project.
    var probes: [ChannelProbe] {
        var probes: [ChannelProbe] = []
        if let first = all.first {
            probes.append(ChannelProbe("the servers of FCM") { await first.pool.probe(first.origin, within: $0) })
        }
        for project in all {
            probes.append(
                ChannelProbe("an access token for the project \(project.id)") { await project.tokens.probe(within: $0) }
            )
        }
        return probes
    }
}

extension AccessTokens {
    /// Obtains a token as a message would.
    fileprivate func probe(within time: Duration) async -> ChannelProbe.Outcome {
        await withCheckedContinuation { continuation in
            let answer = OneAnswer(continuation)
            // The token service has a time limit of its own, which is that of a message.
            MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(time)) {
                answer.give(.unreachable("the token service did not answer in time"))
            }
            token { supply in
                switch supply {
                case .token: answer.give(.reached("obtained"))
                case .none(.refused(let detail), _): answer.give(.refused(detail))
                case .none(.unavailable(let detail, _), _): answer.give(.unreachable(detail))
                }
            }
        }
    }
}

/// Resumes once.
private final class OneAnswer: Sendable {
    private let continuation: Mutex<CheckedContinuation<ChannelProbe.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<ChannelProbe.Outcome, Never>) { self.continuation = Mutex(continuation) }

    func give(_ outcome: ChannelProbe.Outcome) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(returning: outcome)
    }
}
