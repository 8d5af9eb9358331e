import NotificationModel
import ServiceSupport

/// A notification setting of a device on the command line: `sound=disabled`.
enum SettingArgument {
    private static let alertStyle = "alertStyle"
    private static let showPreviews = "showPreviews"
    private static let providesSettings = "providesAppNotificationSettings"
    private static let plain = DeviceSettings.Name.allCases.map(\.rawValue)
    private static let names = plain + [alertStyle, showPreviews, providesSettings]

    /// The values of a setting; nil when there is no such setting.
    private static func values(of name: String) -> [String]? {
        switch name {
        case alertStyle: AlertStyle.allCases.map(\.rawValue)
        case showPreviews: ShowPreviews.allCases.map(\.rawValue)
        case providesSettings: ["true", "false"]
        default: plain.contains(name) ? NotificationSetting.allCases.map(\.rawValue) : nil
        }
    }

    private static func list(_ words: [String]) -> String { words.joined(separator: ", ") }

    /// All settings with their values.
    static var help: String {
        let own = [alertStyle, showPreviews, providesSettings].map { "\($0): \(list(values(of: $0) ?? []))." }
        let common = "\(list(plain)): \(list(NotificationSetting.allCases.map(\.rawValue)))."
        return ([common] + own).joined(separator: " ")
    }

    /// Sets what a text such as `sound=disabled` says.
    ///
    /// - Throws: `invalid`, with the settings or the values that there are.
    static func set(_ text: String, in settings: inout DeviceSettings) throws(ModelError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw ModelError(.invalid, field: "setting", "must be name=value, such as sound=disabled")
        }
        let (name, value) = (parts[0], parts[1])
        guard let values = values(of: name) else {
            let hint = Spelling.nearest(to: name, among: names).map { "did you mean \($0)? The" } ?? "the"
            throw ModelError(
                .invalid,
                field: "setting",
                "\"\(name.prefix(40))\" is no setting; \(hint) settings: \(list(names))"
            )
        }
        guard values.contains(value) else {
            throw ModelError(
                .invalid,
                field: "setting",
                "\"\(value.prefix(40))\" is no value of \(name); its values: \(list(values))"
            )
        }
        switch name {
        case alertStyle: settings.alertStyle = AlertStyle(rawValue: value)
        case showPreviews: settings.showPreviews = ShowPreviews(rawValue: value)
        case providesSettings: settings.providesAppNotificationSettings = value == "true"
        default:
            if let known = DeviceSettings.Name(rawValue: name) {
                settings[known] = NotificationSetting(rawValue: value)
            }
        }
    }
}
