/// A button of a category, as `UNNotificationAction` and `UNTextInputNotificationAction`.
///
///     {"identifier":"reply","title":"Reply","options":["authenticationRequired"],
///      "textInput":{"buttonTitle":"Send","placeholder":"Your message"},"icon":"arrowshape.turn.up.left"}
public final class NotificationAction: Sendable {
    /// What an action needs and how it looks, as `UNNotificationActionOptions`.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of `UNNotificationActionOptions`.
        public let rawValue: UInt8

        /// Options with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The device must be unlocked.
        public static let authenticationRequired = Options(rawValue: 1)
        /// It is highlighted as destructive.
        public static let destructive = Options(rawValue: 2)
        /// It brings the app to the foreground.
        public static let foreground = Options(rawValue: 4)
    }

    /// The field for text of an action that has one.
    public struct TextInput: Sendable, Hashable {
        /// The title of the button that sends the text; empty is the system's.
        public let buttonTitle: String
        /// What an empty field shows.
        public let placeholder: String
    }

    /// Unique across all categories of the application; 1 to 256 bytes, neither `default` nor `dismiss`.
    public let identifier: String
    /// The button's text, 1 to ``ModelLimits/shortTextBytes``.
    public let title: String
    /// What it needs and how it looks.
    public let options: Options
    /// The field for text; nil for a plain button.
    public let textInput: TextInput?
    /// The name of a system symbol or of a template image of the app.
    public let icon: String?

    private enum Field: FieldName {
        case identifier, title, options, textInput, icon
    }

    init(_ scanner: inout JSONScanner, from origin: JSONOrigin) throws(ModelError) {
        var (identifier, title, icon): (String?, String?, String?)
        var options: Options = []
        var textInput: TextInput?
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .identifier: identifier = try scanner.actionIdentifier()
            case .title: title = try scanner.shortText(atLeast: 1)
            case .options: options = try scanner.options(Options.self)
            case .textInput: textInput = try TextInput(&scanner, from: origin)
            case .icon: icon = try scanner.shortText(atLeast: 1)
            }
        }
        self.identifier = try scanner.required(identifier, Field.identifier)
        self.title = try scanner.required(title, Field.title)
        (self.options, self.textInput, self.icon) = (options, textInput, icon)
    }
}

extension NotificationAction: Hashable {
    /// Whether all fields are equal.
    public static func == (one: NotificationAction, other: NotificationAction) -> Bool {
        one === other
            || (one.identifier == other.identifier && one.title == other.title && one.options == other.options
                && one.textInput == other.textInput && one.icon == other.icon)
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension NotificationAction: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.identifier, identifier, &out)
        object.member(Field.title, title, &out)
        object.member(Field.options, options.isEmpty ? nil : options, &out)
        object.member(Field.textInput, textInput, &out)
        object.member(Field.icon, icon, &out)
        object.end(&out)
    }
}

extension NotificationAction.Options: NamedOptions {
    @usableFromInline package static let names: [(name: StaticString, option: NotificationAction.Options)] = [
        ("authenticationRequired", .authenticationRequired), ("destructive", .destructive), ("foreground", .foreground),
    ]
}

extension NotificationAction.TextInput: JSONWritable {
    private enum Field: FieldName {
        case buttonTitle, placeholder
    }

    init(_ scanner: inout JSONScanner, from origin: JSONOrigin) throws(ModelError) {
        var (buttonTitle, placeholder) = ("", "")
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .buttonTitle: buttonTitle = try scanner.shortText()
            case .placeholder: placeholder = try scanner.shortText()
            }
        }
        (self.buttonTitle, self.placeholder) = (buttonTitle, placeholder)
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.buttonTitle, buttonTitle.isEmpty ? nil : buttonTitle, &out)
        object.member(Field.placeholder, placeholder.isEmpty ? nil : placeholder, &out)
        object.end(&out)
    }
}

extension JSONScanner {
    /// An action's identifier, none of the system's.
    mutating func actionIdentifier() throws(ModelError) -> String {
        let identifier = try printable(bytes: 1...ModelLimits.actionIdentifierBytes)
        guard !CategorySet.systemActions.contains(identifier) else {
            throw value("is the name of a system action: choose another than default and dismiss")
        }
        return identifier
    }
}
