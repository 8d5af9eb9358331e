@testable import NotificationConsumer

/// A channel that keeps what it was asked, and answers when the test does.
final class HeldChannel: DeliveryChannel {
    let name = "held"
    /// What is not answered yet, in the order in which it began.
    private(set) var sends: [ChannelSend] = []
    private(set) var replies: [ChannelReply] = []
    /// How many were begun so far.
    private(set) var begun = 0
    /// How many of them were given up.
    private(set) var cancelled = 0

    func begin(_ send: ChannelSend, _ reply: ChannelReply) {
        begun += 1
        sends.append(send)
        replies.append(reply)
    }

    func cancel(_ reply: ChannelReply) {
        guard let index = replies.firstIndex(of: reply) else { return }
        cancelled += 1
        sends.remove(at: index)
        replies.remove(at: index)
    }

    /// Accepts what was begun so far.
    func accept() {
        let answered = replies
        (sends, replies) = ([], [])
        for reply in answered { reply(.accepted) }
    }
}
