import NotificationDelivery
import NotificationModel
import OutboundHTTP
import Synchronization

/// A push on its way, for each of its attempts.
final class APNsFlight: SideWorkTask {
    let route: APNsSenders.Route
    let push: APNsPush
    /// When APNs takes it.
    let success: ChannelResult
    let token: String
    let priority: WorkPriority
    /// Several for removals that share it.
    let replies: [ChannelReply]
    /// The attempt without an answer.
    private let request = Mutex<(HTTP2Request, DeviceRegistration.Environment)?>(nil)

    init(
        route: APNsSenders.Route,
        push: APNsPush,
        success: ChannelResult,
        token: String,
        priority: WorkPriority,
        replies: [ChannelReply]
    ) {
        (self.route, self.push, self.success) = (route, push, success)
        (self.token, self.priority, self.replies) = (token, priority, replies)
    }

    /// Whether anyone waits for its end.
    private var isAwaited: Bool { replies.contains(where: \.isAwaited) }

    /// An attempt begins.
    ///
    /// - Returns: as ``endAttempt()``. Asked after the request is known: who no longer waits from then on cancels it.
    func begin(_ request: HTTP2Request, in environment: DeviceRegistration.Environment) -> Bool {
        self.request.withLock { $0 = (request, environment) }
        return isAwaited || endAttempt()
    }

    /// The attempt has ended.
    ///
    /// - Returns: whether anyone waits for what follows.
    func endAttempt() -> Bool {
        request.withLock { $0 = nil }
        if isAwaited { return true }
        for reply in replies { reply.task = nil }
        return false
    }

    /// For the others that share it, it goes on.
    func cancel() {
        guard !isAwaited, let (request, environment) = request.withLock({ $0 }) else { return }
        route[environment]?.pool.cancel(request)
    }
}
