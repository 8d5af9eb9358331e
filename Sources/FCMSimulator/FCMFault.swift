import NotificationModel
import PushSimulation

/// A bad day: what happens to the requests that it concerns.
public struct FCMFault: Sendable, Hashable {
    /// What happens.
    public enum Effect: Sendable, Hashable {
        /// The message is refused with an `errorCode` of FCM, or `UNAUTHENTICATED` or `PERMISSION_DENIED`, and has no effect.
        case refuse(String, retryAfter: Int? = nil)
        /// Something that is no answer of FCM: a status of 300 to 599, and a text.
        case answer(status: Int, body: String)
        /// The message takes effect, and is never answered.
        case silence
        /// The answer is later, by this time beyond the round trip.
        case delay(Duration)
        /// The stream is refused (REFUSED_STREAM): the request was not processed.
        case refuseStream
        /// The connection is ended with GOAWAY.
        case goAway
        /// The connection is cut, without answers to anything that is open on it.
        case cut
    }

    /// What happens.
    public var effect: Effect
    /// The share of the requests that it concerns, 0 to 1, decided for each.
    public var share: Double
    /// Only messages to a device with this name.
    public var device: String?
    /// After that many requests it is over; nil for no end.
    public var remaining: Int?

    /// A fault.
    public init(_ effect: Effect, share: Double = 1, device: String? = nil, remaining: Int? = nil) {
        (self.effect, self.share, self.device, self.remaining) = (effect, share, device, remaining)
    }
}

extension FCMFault: SimulatedFault {
    /// The device of a request; nil for one that nobody knows.
    package typealias Request = String?

    /// Of an effect that is a delay only.
    package var delay: Duration? { if case .delay(let time) = effect { time } else { nil } }

    package func concerns(_ request: String?) -> Bool { device == nil || request == device }
}

extension FCMFault {
    static let fields = [
        "effect", "errorCode", "retryAfter", "status", "body", "seconds", "share", "device", "remaining",
    ]

    private enum Name: String, CaseIterable {
        case refuse, answer, silence, delay, refuseStream, goAway, cut
    }

    init(_ fields: BodyFields) throws(ModelError) {
        let effect: Effect
        switch try fields.required(try fields.choice("effect", Name.self), "effect") {
        case .refuse:
            let code = try fields.required(try fields.text("errorCode"), "errorCode")
            guard FCMRefusal(errorCode: code) != nil else {
                throw ModelError(.invalid, field: "errorCode", "is none of FCM")
            }
            effect = .refuse(code, retryAfter: try fields.integer("retryAfter", in: 0...86_400))
        case .answer:
            effect = .answer(
                status: try fields.required(try fields.integer("status", in: 300...599), "status"),
                body: try fields.text("body") ?? ""
            )
        case .silence: effect = .silence
        case .delay: effect = .delay(try fields.required(try fields.seconds("seconds"), "seconds"))
        case .refuseStream: effect = .refuseStream
        case .goAway: effect = .goAway
        case .cut: effect = .cut
        }
        self.init(
            effect,
            share: try fields.share("share") ?? 1,
            device: try fields.text("device"),
            remaining: try fields.integer("remaining", in: 1...Int.max)
        )
    }
}
