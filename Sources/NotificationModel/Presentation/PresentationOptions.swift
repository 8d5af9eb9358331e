/// What of a notification is shown or played, as `UNNotificationPresentationOptions`.
///
/// In JSON an array of names, `["banner","list","sound","badge"]`. `alert` is read as `banner` and `list`.
public struct PresentationOptions: OptionSet, Sendable, Hashable {
    /// The bits of `UNNotificationPresentationOptions`.
    public let rawValue: UInt8

    /// Options with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The number on the app's icon changes.
    public static let badge = PresentationOptions(rawValue: 1)
    /// The sound plays.
    public static let sound = PresentationOptions(rawValue: 2)
    /// It is added to the list of notifications.
    public static let list = PresentationOptions(rawValue: 8)
    /// It is shown as a banner.
    public static let banner = PresentationOptions(rawValue: 16)

    /// Appends the JSON array of the names.
    public func write(to out: inout [UInt8]) { writeJSON(to: &out) }
}

extension PresentationOptions: NamedOptions {
    @usableFromInline package static let names: [(name: StaticString, option: PresentationOptions)] = [
        ("banner", .banner), ("list", .list), ("sound", .sound), ("badge", .badge),
    ]
    /// The option of before iOS 14, bit 4.
    @usableFromInline package static let aliases: [(name: StaticString, option: PresentationOptions)] = [
        ("alert", [.banner, .list])
    ]

    /// Reads an array of names.
    package init(_ scanner: inout JSONScanner) throws(ModelError) { self = try scanner.options(Self.self) }
}
