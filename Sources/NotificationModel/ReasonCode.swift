/// Why a record, an event or a call was refused, suppressed or given up.
///
/// The raw values cross Kafka and HTTP; readers compare these codes, never the prose beside them.
public enum ReasonCode: String, CaseIterable, Sendable, Hashable {
    /// Not the shape that was asked for: grammar, type, range, or a field that contradicts another.
    case invalid = "invalid"
    /// A field that the contract does not know.
    case unknownField = "unknown-field"
    /// A trigger `type` that the contract does not know.
    case unknownTrigger = "unknown-trigger"
    /// A value or body with more bytes than ``ModelLimits`` allows.
    case tooLarge = "too-large"
    /// Bytes that are not UTF-8.
    case notUTF8 = "not-utf8"
    /// A record in another partition than its recipient's.
    case misrouted = "misrouted"
    /// A record timestamp too far ahead of the clock.
    case inFuture = "in-future"
    /// No rule is meant for this event type.
    case noRule = "no-rule"
    /// A template names a variable that the event does not have.
    case missingVariable = "missing-variable"
    /// A calendar time that does not exist and whose policy is to skip it.
    case gap = "gap"
    /// A form of the contract that this version cannot read or run.
    case unsupportedForm = "unsupported-form"
    /// The recipient has not allowed notifications.
    case notAuthorized = "not-authorized"
    /// No device is registered for the recipient.
    case noDevice = "no-device"
    /// Over a frequency cap.
    case capped = "capped"
    /// The device token is gone.
    case unregistered = "unregistered"
    /// More than the channel can carry.
    case payloadTooLarge = "payload-too-large"
    /// The channel refused for good.
    case rejected = "rejected"
    /// Attempts or time are used up.
    case gaveUp = "gave-up"
    /// Held back until the end of its collapse window.
    case collapseWindow = "collapse-window"
    /// A rule's list of recipients is longer than the rule allows.
    case tooManyRecipients = "too-many-recipients"
    /// No such resource, over HTTP.
    case notFound = "not-found"
    /// The resource does not take this method, over HTTP.
    case methodNotAllowed = "method-not-allowed"
    /// A body of a kind that is not taken, over HTTP.
    case unsupportedMediaType = "unsupported-media-type"
    /// No token, or one that is not known, over HTTP.
    case unauthenticated = "unauthenticated"
    /// The token's roles do not allow the call, over HTTP.
    case forbidden = "forbidden"
    /// The request did not arrive whole in time, over HTTP.
    case receiveTimeout = "receive-timeout"
    /// More calls at one time than the bounds allow, over HTTP: the same call is safe to repeat.
    case overloaded = "overloaded"
    /// The broker did not answer in time: the same call is safe to repeat.
    case unavailable = "unavailable"
    /// A fault of Carillon's own; its log says which.
    case internalError = "internal"
}
