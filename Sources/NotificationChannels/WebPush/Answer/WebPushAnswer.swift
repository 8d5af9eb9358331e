import NIOCore
import NIOHTTP1
import NotificationModel
import OutboundHTTP
import Synchronization

/// An answer of a push service.
package struct WebPushAnswer: OutboundAnswer, Hashable {
    /// Of HTTP.
    package var status: Int
    /// The value of `retry-after`.
    package var retryAfter: String?
    /// Why, as Apple's service says in its body: `BadJwtToken`. Printable, at most 64 characters.
    package var reason: String?

    package init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
        (self.status, self.retryAfter) = (status, retryAfter)
        reason = Self.reason(in: body)
    }

    private static func reason(in body: [UInt8]) -> String? {
        guard let text = (try? JSONValue.parse(body, maximumDepth: 4))?["reason"]?.stringValue,
            (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }

    /// What to do with the answer that begins like this: the body is read where it may tell whose fault it is.
    static func plan(_ head: HTTPResponseHead) -> AnswerPlan {
        let answer = WebPushAnswer(
            status: Int(head.status.code),
            retryAfter: head.headers.first(name: "retry-after")
        )
        return [401, 403].contains(answer.status) ? .body(WebPushAnswerBody(answer)) : .end(.success(answer))
    }

    /// The outcome of an attempt, without what it means for the key.
    package var action: WebPushAction { WebPushAction(self) }
}

/// Keeps the beginning of an answer's body.
private final class WebPushAnswerBody: AnswerBody {
    /// More is not kept.
    private static let most = 4096

    private let answer: WebPushAnswer
    private let collected = Mutex<[UInt8]>([])

    init(_ answer: WebPushAnswer) { self.answer = answer }

    func append(_ bytes: ByteBuffer) throws(OutboundFailure) {
        collected.withLock { $0 += bytes.readableBytesView.prefix(Self.most - $0.count) }
    }

    func finish(_ bytes: ByteBuffer) throws(OutboundFailure) -> any OutboundAnswer {
        try append(bytes)
        return WebPushAnswer(
            status: answer.status,
            retryAfter: answer.retryAfter,
            body: collected.withLock { $0 }
        )
    }

    func abandon() {}
}
