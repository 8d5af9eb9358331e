extension NotificationKey {
    /// The key of a device: application, recipient and, as the identifier, the device.
    ///
    /// Throws as ``init(application:recipient:identifier:)-(String,_,_)``, with `device` for the identifier, which must
    /// not be empty.
    ///
    /// - Parameters:
    ///   - device: the device, 1 to 256 bytes.
    ///   - recipient: whose device it is.
    ///   - application: the application that is on it.
    public static func device(
        _ device: String,
        of recipient: String,
        in application: String
    ) throws(ModelError) -> NotificationKey {
        guard !device.isEmpty else { throw ModelError(.invalid, field: "device", "must not be empty") }
        do throws(ModelError) {
            return try NotificationKey(application: application, recipient: recipient, identifier: device)
        } catch {
            throw error.field == "identifier" ? ModelError(error.reason, field: "device", error.detail) : error
        }
    }
}
