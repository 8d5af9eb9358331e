/// Why a record, an event or a call was refused, suppressed or abandoned.
///
/// The raw values go over Kafka and HTTP; readers compare these codes, never the accompanying text.
public enum ReasonCode: String, CaseIterable, Sendable, Hashable {
    /// Invalid input: grammar, type, range, or a field that contradicts another.
    case invalid = "invalid"
    /// A field that the contract does not know.
    case unknownField = "unknown-field"
    /// A trigger `type` that the contract does not know.
    case unknownTrigger = "unknown-trigger"
    /// A value or body larger than ``ModelLimits`` allows.
    case tooLarge = "too-large"
    /// Bytes that are not UTF-8.
    case notUTF8 = "not-utf8"
    /// A record in another partition than its recipient's; a query to an instance that does not own that partition.
    case misrouted = "misrouted"
    /// A record timestamp too far ahead of the clock.
    case inFuture = "in-future"
    /// No rule matches this event type.
    case noRule = "no-rule"
    /// A template names a variable that the event does not have.
    case missingVariable = "missing-variable"
    /// A calendar time that does not exist and whose policy is to skip it.
    case gap = "gap"
    /// A form of the contract that this version cannot read or execute.
    case unsupportedForm = "unsupported-form"
    /// The recipient has not allowed notifications.
    case notAuthorized = "not-authorized"
    /// The device's settings allow nothing of it.
    case disabled = "disabled"
    /// No device is registered for the recipient.
    case noDevice = "no-device"
    /// Over a frequency cap.
    case capped = "capped"
    /// The device token is no longer valid.
    case unregistered = "unregistered"
    /// Larger than the channel can carry.
    case payloadTooLarge = "payload-too-large"
    /// The channel refused permanently.
    case rejected = "rejected"
    /// All attempts or the available time are used up.
    case gaveUp = "gave-up"
    /// An enricher whose failure forbids the delivery did not succeed.
    case notEnriched = "not-enriched"
    /// The device's token was registered for another recipient.
    case moved = "moved"
    /// The device's token was registered under another name of the same recipient.
    case replaced = "replaced"
    /// An action that the notification's category does not have.
    case unknownAction = "unknown-action"
    /// Held until the end of its collapse window.
    case collapseWindow = "collapse-window"
    /// Held until the end of its quiet hours, or suppressed because of them.
    case quietHours = "quiet-hours"
    /// Held until the end of its digest's window.
    case digest = "digest"
    /// A rule's list of recipients is longer than the rule allows.
    case tooManyRecipients = "too-many-recipients"
    /// No such resource, over HTTP.
    case notFound = "not-found"
    /// The resource does not support this method, over HTTP.
    case methodNotAllowed = "method-not-allowed"
    /// The media type of the body is not supported, over HTTP.
    case unsupportedMediaType = "unsupported-media-type"
    /// No token, or an unknown one, over HTTP.
    case unauthenticated = "unauthenticated"
    /// The token does not allow the call, over HTTP; the token of an event's sender is not good for the application of a
    /// rule's request.
    case forbidden = "forbidden"
    /// The request did not arrive completely in time, over HTTP.
    case receiveTimeout = "receive-timeout"
    /// More concurrent calls than the limits allow, over HTTP: the call is safe to repeat.
    case overloaded = "overloaded"
    /// The broker did not answer in time: the call is safe to repeat.
    case unavailable = "unavailable"
    /// An internal error of Carillon; the log has the details.
    case internalError = "internal"
}
