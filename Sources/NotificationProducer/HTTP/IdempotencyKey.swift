import HTTPTypes
import Hummingbird
import NotificationModel
import ServiceHTTP

/// The `Idempotency-Key` of a call (draft-ietf-httpapi-idempotency-key-header-07): a String of Structured Fields (RFC 8941
/// section 3.3.3), `"8e03978e-40d5-43dd-bc93-6894a57f9324"` with its quotes.
///
/// The ids of requests are derived from the key, so a repeated call creates the same ids, and the consumer service
/// drops the repeat as a duplicate. Nothing is stored: the same key with another body gives the same ids too, and is
/// dropped silently.
struct IdempotencyKey: Sendable, Equatable {
    /// Maximum number of characters.
    static let longest = 255
    private static let fieldName = "idempotency-key"
    private static let name = HTTPField.Name(fieldName)

    /// The text without quotes and escapes.
    let text: String
    /// Who sent it: two callers that use one key do not get one id. Empty where no tokens are needed.
    private let caller: String

    /// - Returns: Nil if the call has none.
    /// - Throws: `invalid` with the header's name as field.
    static func read(_ call: Call) throws(ModelError) -> IdempotencyKey? {
        guard let name, let value = call.request.headers[name] else { return nil }
        // A repeated header arrives as one value with a comma, which is not a valid string.
        return try IdempotencyKey(value, of: call.caller.identity)
    }

    /// Reads the header's value.
    init(_ value: String, of caller: String = "") throws(ModelError) {
        self.caller = caller.isEmpty ? "" : "\(caller) "
        func failure(_ why: String) -> ModelError { ModelError(.invalid, field: Self.fieldName, why) }
        var rest = Substring(value).utf8.drop { $0 == 0x20 }
        while rest.last == 0x20 { rest.removeLast() }
        guard rest.popFirst() == UInt8(ascii: "\"") else {
            throw failure("must be one text in double quotes: Idempotency-Key: \"8e03978e-40d5\"")
        }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                guard rest.isEmpty else { throw failure("must end with its closing quote") }
                guard (1...Self.longest).contains(bytes.count) else {
                    throw failure("must have 1 to \(Self.longest) characters in quotes, this one has \(bytes.count)")
                }
                text = String(decoding: bytes, as: UTF8.self)
                return
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else {
                    throw failure("a backslash is allowed only before a double quote or a backslash")
                }
                bytes.append(escaped)
            case 0x20...0x7E: bytes.append(byte)
            default: throw failure("may contain visible ASCII characters and blanks only")
            }
        }
        throw failure("has no closing quote")
    }

    /// The id of a call's request: derived from caller, application, recipient, identifier, method and this key.
    func requestID(_ method: HTTPRequest.Method, _ key: NotificationKey) -> NotificationModel.RequestID {
        .derive(caller: "\(caller)\(method.rawValue) \(key)", idempotencyKey: text)
    }

    /// The id of a call's signal, which is also that of a response without one.
    ///
    /// - Parameter recipient: The key of the whole recipient.
    func signalID(_ type: SignalType, _ recipient: NotificationKey) -> NotificationModel.RequestID {
        .derive(caller: "\(caller)\(type.eventType) \(recipient)", idempotencyKey: text)
    }

    /// The identifier of a notification posted without one.
    ///
    /// - Parameter recipient: The key of the whole recipient.
    func identifier(_ recipient: NotificationKey) -> String {
        UUIDv5.make(namespace: UUIDv5.requestNamespace, pieces: ["identifier", "\(caller)\(recipient)", text])
            .description
    }
}
