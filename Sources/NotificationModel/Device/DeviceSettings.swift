/// The value of a device's setting: `UNNotificationSetting`.
public enum NotificationSetting: String, CaseIterable, Sendable, Hashable {
    /// The app or the device does not have it.
    case notSupported
    /// Off.
    case disabled
    /// On.
    case enabled
}

/// How a device shows alerts: `UNAlertStyle`.
public enum AlertStyle: String, CaseIterable, Sendable, Hashable {
    /// No banner; the list has it.
    case nothing = "none"
    /// A banner that goes away by itself.
    case banner
    /// An alert that stays until the person ends it.
    case alert
}

/// When a device shows the text of a notification before it is opened: `UNShowPreviewsSetting`.
public enum ShowPreviews: String, CaseIterable, Sendable, Hashable {
    /// Also on a locked device.
    case always
    /// While the device is unlocked.
    case whenAuthenticated
    /// Never.
    case never
}

/// The notification settings of an app on a device, by name. One that is missing does not restrict anything.
public struct DeviceSettings: Sendable, Hashable {
    /// The settings of `UNNotificationSettings`, as JSON names them.
    public enum Name: String, CaseIterable, Sendable, Hashable {
        /// Texts on the screen.
        case alert
        /// Sounds.
        case sound
        /// The number on the app's icon.
        case badge
        /// The list in Notification Center.
        case notificationCenter
        /// The lock screen.
        case lockScreen
        /// The screen of a car.
        case carPlay
        /// Critical alerts, which ignore the mute switch.
        case criticalAlert
        /// Texts that are read aloud.
        case announcement
        /// The scheduled summary.
        case scheduledDelivery
        /// Time-sensitive notifications.
        case timeSensitive
        /// Messages of one person to another.
        case directMessages
    }

    /// The names in the order of their bits, and the values, as JSON.
    private static let names: [StaticString] = [
        "\"alert\":", "\"sound\":", "\"badge\":", "\"notificationCenter\":", "\"lockScreen\":", "\"carPlay\":",
        "\"criticalAlert\":", "\"announcement\":", "\"scheduledDelivery\":", "\"timeSensitive\":",
        "\"directMessages\":",
    ]
    private static let values: [StaticString] = ["", "\"notSupported\"", "\"disabled\"", "\"enabled\""]

    /// Two bits for each name: 0 missing, 1 not supported, 2 disabled, 3 enabled.
    private var bits: UInt32 = 0
    /// How alerts are shown; nil when it is missing.
    public var alertStyle: AlertStyle?
    /// When texts are shown; nil when it is missing. For gateways: nothing here depends on it.
    public var showPreviews: ShowPreviews?
    /// Whether the app has a screen for its notification settings; nil when it is missing. For gateways.
    public var providesAppNotificationSettings: Bool?

    /// Without any setting.
    public init() {}

    /// The setting; nil when it is missing.
    public subscript(name: Name) -> NotificationSetting? {
        get {
            switch bits >> name.shift & 3 {
            case 1: .notSupported
            case 2: .disabled
            case 3: .enabled
            default: nil
            }
        }
        set {
            let value: UInt32 =
                switch newValue {
                case nil: 0
                case .notSupported: 1
                case .disabled: 2
                case .enabled: 3
                }
            bits = bits & ~(3 << name.shift) | value << name.shift
        }
    }

    /// Whether the setting is enabled or missing.
    public func allows(_ name: Name) -> Bool {
        let value = bits >> name.shift & 3
        return value == 0 || value == 3
    }

    /// True without any setting.
    public var isEmpty: Bool { self == DeviceSettings() }
}

extension DeviceSettings.Name {
    fileprivate var shift: UInt32 {
        switch self {
        case .alert: 0
        case .sound: 2
        case .badge: 4
        case .notificationCenter: 6
        case .lockScreen: 8
        case .carPlay: 10
        case .criticalAlert: 12
        case .announcement: 14
        case .scheduledDelivery: 16
        case .timeSensitive: 18
        case .directMessages: 20
        }
    }
}

extension DeviceSettings: JSONWritable {
    /// Those that are not a `NotificationSetting`.
    private enum Field: FieldName {
        case alertStyle, showPreviews, providesAppNotificationSettings
    }

    init(_ scanner: inout JSONScanner, _ origin: JSONOrigin) throws(ModelError) {
        var settings = DeviceSettings()
        try scanner.object(
            of: Field.self,
            { scanner, member throws(ModelError) in
                let text = scanner.materialise(member)
                guard let name = Name(rawValue: text), name.rawValue.hasSameUTF8(as: text) else {
                    return try scanner.passOver(origin)
                }
                guard settings[name] == nil else { throw scanner.value("appears twice") }
                settings[name] = try scanner.choice(NotificationSetting.self)
            }
        ) { scanner, field throws(ModelError) in
            switch field {
            case .alertStyle: settings.alertStyle = try scanner.choice(AlertStyle.self)
            case .showPreviews: settings.showPreviews = try scanner.choice(ShowPreviews.self)
            case .providesAppNotificationSettings: settings.providesAppNotificationSettings = try scanner.boolean()
            }
        }
        self = settings
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        for (index, name) in Self.names.enumerated() {
            let value = Int(truncatingIfNeeded: bits >> UInt32(2 * index) & 3)
            guard value > 0 else { continue }
            object.separate(&out)
            JSONWriter.append(name, to: &out)
            JSONWriter.append(Self.values[value], to: &out)
        }
        object.member(Field.alertStyle, alertStyle?.rawValue, &out)
        object.member(Field.showPreviews, showPreviews?.rawValue, &out)
        object.member(Field.providesAppNotificationSettings, providesAppNotificationSettings, &out)
        object.end(&out)
    }
}
