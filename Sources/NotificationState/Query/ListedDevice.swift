import NotificationModel

/// A device of a recipient, as a query lists it: its name, its registration, and what the center knows of it.
package struct ListedDevice: Sendable, Hashable {
    private let device: RecipientRecord.RegisteredDevice
    private let isInForeground: Bool

    /// A device of a recipient's record.
    ///
    /// - Parameters:
    ///   - device: as it was registered.
    ///   - isInForeground: whether its app counts as being in the foreground now.
    package init(_ device: RecipientRecord.RegisteredDevice, isInForeground: Bool) {
        (self.device, self.isInForeground) = (device, isInForeground)
    }

    /// Its name.
    package var name: String { device.name }

    private enum Field: FieldName {
        case device, retiredAt, badge, foreground
    }

    /// Appends its JSON: the members of the registration, and `device`, `badge`, `foreground` and `retiredAt`.
    ///
    /// - Parameter showsToken: Whether the push token is among them.
    package func write(to out: inout [UInt8], showsToken: Bool) {
        var object = JSONObjectWriter()
        object.member(Field.device, device.name, &out)
        object.member(Field.badge, device.badge, &out)
        if isInForeground { object.member(Field.foreground, true, &out) }
        object.member(Field.retiredAt, device.retiredAt, &out)
        device.registration.writeMembers(to: &out, &object, showsToken: showsToken)
        object.end(&out)
    }
}
