@testable import NotificationConsumer
import NotificationDelivery
import NotificationModel

/// A channel that collects sends, and answers when the test requests it.
final class HeldChannel: DeliveryChannel {
    let name = ChannelName.test
    let changes: ChannelChanges? = ChannelChanges()
    /// The unanswered sends, in the order of their start.
    private(set) var sends: [Issued<ChannelSend>] = []
    private(set) var replies: [ChannelReply] = []
    /// The number of sends so far.
    private(set) var begun = 0
    /// How many of them were cancelled.
    private(set) var cancelled = 0
    /// How many were begun since the last flush.
    private(set) var unflushed = 0
    /// How many were begun before each flush.
    private(set) var flushes: [Int] = []

    func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        begun += 1
        unflushed += 1
        sends.append(send)
        replies.append(reply)
    }

    func flush() {
        flushes.append(unflushed)
        unflushed = 0
    }

    func cancel(_ reply: ChannelReply) {
        guard let index = replies.firstIndex(of: reply) else { return }
        cancelled += 1
        sends.remove(at: index)
        replies.remove(at: index)
    }

    /// Answers all sends so far.
    func answer(_ result: ChannelResult) {
        let answered = replies
        (sends, replies) = ([], [])
        for reply in answered { reply(result) }
    }

    /// Accepts all sends so far.
    func accept() { answer(.accepted) }
}
