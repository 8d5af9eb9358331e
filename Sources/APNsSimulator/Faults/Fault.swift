public import NotificationModel
import PushSimulation

/// A bad day: what happens to the requests that it concerns.
public struct Fault: Sendable, Hashable {
    /// What happens.
    public enum Effect: Sendable, Hashable {
        /// The request is refused, and has no effect.
        case answer(Answer)
        /// The request takes effect, and is never answered.
        case silence
        /// The answer is later, by this time beyond the round trip.
        case delay(Duration)
        /// The stream is refused (REFUSED_STREAM): the request was not processed.
        case refuseStream
        /// The connection is ended with GOAWAY: this request and later ones were not processed, earlier ones are answered.
        case goAway(APNsReason)
        /// The connection is cut, without answers to anything that is open on it.
        case cut
    }

    /// An answer of the operator's choice: also with reasons that nobody knows.
    public struct Answer: Sendable, Hashable {
        /// An HTTP status, 400 to 599.
        public var status: Int
        /// Nil for no body.
        public var reason: String?
        /// When the token ended, with 410.
        public var timestamp: Timestamp?
        /// In seconds, as the header `retry-after`.
        public var retryAfter: Int?

        /// Any answer.
        public init(status: Int, reason: String?, timestamp: Timestamp? = nil, retryAfter: Int? = nil) {
            (self.status, self.reason, self.timestamp) = (status, reason, timestamp)
            self.retryAfter = retryAfter
        }

        /// The answer with a known reason, and its status.
        public init(_ reason: APNsReason, timestamp: Timestamp? = nil, retryAfter: Int? = nil) {
            self.init(
                status: reason.status,
                reason: reason.rawValue,
                timestamp: timestamp,
                retryAfter: retryAfter
            )
        }
    }

    /// What happens.
    public var effect: Effect
    /// The share of the requests that it concerns, 0 to 1, decided for each.
    public var share: Double
    /// Only requests to a device with this name.
    public var device: String?
    /// Only requests to this token.
    public var token: String?
    /// Only requests of this push type, by the header field.
    public var pushType: PushType?
    /// Only requests to this environment's port.
    public var environment: DeviceRegistration.Environment?
    /// Only requests on the connection with this number.
    public var connection: Int?
    /// After that many requests it is over; nil for no end.
    public var remaining: Int?

    /// - Parameters:
    ///   - effect: What happens.
    ///   - share: 0 to 1.
    ///   - device: Nil for all.
    ///   - token: In hexadecimal; nil for all.
    ///   - pushType: Nil for all.
    ///   - environment: Nil for both.
    ///   - connection: Nil for all.
    ///   - remaining: Nil for no end.
    public init(
        _ effect: Effect,
        share: Double = 1,
        device: String? = nil,
        token: String? = nil,
        pushType: PushType? = nil,
        environment: DeviceRegistration.Environment? = nil,
        connection: Int? = nil,
        remaining: Int? = nil
    ) {
        (self.effect, self.share, self.device, self.token, self.pushType) = (effect, share, device, token, pushType)
        (self.environment, self.connection, self.remaining) = (environment, connection, remaining)
    }
}

/// The faults in force. Those of a request are decided when it has arrived.
typealias Faults = NamedFaults<Fault>

extension Fault: SimulatedFault {
    /// A request, as faults know it.
    package struct Request: Sendable {
        /// In lower case; nil for what goes to no device.
        var token: String?
        var device: String?
        /// As it came.
        var pushType: String?
        var environment: DeviceRegistration.Environment
        var connection: Int
    }

    /// Of an effect that is a delay only.
    package var delay: Duration? { if case .delay(let time) = effect { time } else { nil } }

    package func concerns(_ request: Request) -> Bool {
        if let device, request.device != device { return false }
        if let token, request.token != token.lowercased() { return false }
        if let pushType, request.pushType != pushType.rawValue { return false }
        if let environment, request.environment != environment { return false }
        if let connection, request.connection != connection { return false }
        return true
    }
}
