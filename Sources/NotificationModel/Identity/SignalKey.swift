/// The key of a record of the topic `signals`: the recipient, percent-encoded as a component of a ``NotificationKey``.
public enum SignalKey {
    /// Reads a record's key. Throws `invalid` or `not-utf8` at `key`.
    public static func recipient(of key: [UInt8]) throws(ModelError) -> String {
        do throws(ModelError) {
            let recipient = try PercentEncoding.decodeOnce(key)
            try NotificationKey.check("recipient", recipient.count, mayBeEmpty: false)
            return String(decoding: recipient, as: UTF8.self)
        } catch {
            throw ModelError(error.reason, field: "key", "a signal's key is its recipient: \(error.detail)")
        }
    }

    /// The key of a recipient's signals. Throws `invalid` or `not-utf8` at `recipient`.
    public static func bytes(recipient: String) throws(ModelError) -> [UInt8] {
        let key = try NotificationKey(application: "a", recipient: recipient, identifier: "")
        return Array(key.encoded.dropFirst(2).dropLast())
    }
}
