/// The key of a record of the topic `categories`: the application, percent-encoded as a component of a ``NotificationKey``.
public enum CategoryKey {
    /// Reads a record's key. Throws `invalid` or `not-utf8` at `key`.
    public static func application(of key: [UInt8]) throws(ModelError) -> String {
        do throws(ModelError) {
            let application = String(decoding: try PercentEncoding.decodeOnce(key), as: UTF8.self)
            // Whatever the key of a notification cannot hold has no categories.
            _ = try NotificationKey(application: application, recipient: "r", identifier: "")
            return application
        } catch {
            throw ModelError(error.reason, field: "key", "the key of categories is their application: \(error.detail)")
        }
    }

    /// The key of an application's categories. Throws `invalid` or `not-utf8` at `application`.
    public static func bytes(application: String) throws(ModelError) -> [UInt8] {
        _ = try NotificationKey(application: application, recipient: "r", identifier: "")
        var key: [UInt8] = []
        PercentEncoding.encode(application.utf8, to: &key)
        return key
    }
}
