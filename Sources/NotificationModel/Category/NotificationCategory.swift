/// A kind of notification and its actions, as `UNNotificationCategory`.
///
///     {"identifier":"ORDER","actions":[…],"intentIdentifiers":[],"options":["customDismissAction"],
///      "hiddenPreviewsBodyPlaceholder":"%u orders","categorySummaryFormat":"%u more orders",
///      "response":"forward","presentation":["banner","list"]}
public final class NotificationCategory: Sendable {
    /// What a category's notifications may do, as `UNNotificationCategoryOptions`.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of `UNNotificationCategoryOptions`.
        public let rawValue: UInt8

        /// Options with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// An explicit dismissal is a response.
        public static let customDismissAction = Options(rawValue: 1)
        /// CarPlay shows it.
        public static let allowInCarPlay = Options(rawValue: 2)
        /// The title is shown although previews are hidden.
        public static let hiddenPreviewsShowTitle = Options(rawValue: 4)
        /// The subtitle is shown although previews are hidden.
        public static let hiddenPreviewsShowSubtitle = Options(rawValue: 8)
        /// Siri may announce it; systems since iOS 15 ignore it.
        public static let allowAnnouncement = Options(rawValue: 16)
    }

    /// Equal to a content's `categoryIdentifier`; unique, 1 to ``ModelLimits/shortTextBytes``.
    public let identifier: String
    /// At most ``ModelLimits/actions``, in the order in which they are shown.
    public let actions: [NotificationAction]
    /// SiriKit intents whose notifications it groups; at most ``ModelLimits/intentIdentifiers``.
    public let intentIdentifiers: [String]
    /// What its notifications may do.
    public let options: Options
    /// Shown in place of the body when previews are hidden; `%u` is the number of notifications of the thread.
    public let hiddenPreviewsBodyPlaceholder: String?
    /// The format of the summary of a group.
    public let categorySummaryFormat: String?
    /// What becomes of a response; `forward` when it is not set.
    public let response: ResponsePolicy
    /// What its notifications show while the app is in the foreground, unless they say it themselves.
    public let presentation: ForegroundPolicy?

    /// The JSON array of its actions, as delivery events carry it; written once.
    public let actionsJSON: ArraySlice<UInt8>
    /// What a delivered notification keeps of it.
    public let kept: KeptCategory
    /// The bytes of the identifier, by which a set looks it up.
    let name: [UInt8]

    private enum Field: FieldName {
        case identifier, actions, intentIdentifiers, options, hiddenPreviewsBodyPlaceholder, categorySummaryFormat
        case response, presentation
    }

    init(_ scanner: inout JSONScanner, from origin: JSONOrigin) throws(ModelError) {
        var (identifier, placeholder, summaryFormat): (String?, String?, String?)
        var (actions, intents): ([NotificationAction], [String]) = ([], [])
        var (options, response): (Options, ResponsePolicy) = ([], .forward)
        var presentation: ForegroundPolicy?
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .identifier: identifier = try scanner.printable(bytes: 1...ModelLimits.shortTextBytes)
            case .actions:
                try scanner.array { scanner, index throws(ModelError) in
                    guard index < ModelLimits.actions else {
                        throw scanner.value("at most \(ModelLimits.actions) actions are allowed")
                    }
                    actions.append(try NotificationAction(&scanner, from: origin))
                }
            case .intentIdentifiers:
                try scanner.array { scanner, index throws(ModelError) in
                    guard index < ModelLimits.intentIdentifiers else {
                        throw scanner.value("at most \(ModelLimits.intentIdentifiers) intents are allowed")
                    }
                    intents.append(try scanner.shortText(atLeast: 1))
                }
            case .options: options = try scanner.options(Options.self)
            case .hiddenPreviewsBodyPlaceholder: placeholder = try scanner.shortText()
            case .categorySummaryFormat: summaryFormat = try scanner.shortText()
            case .response: response = try scanner.choice(ResponsePolicy.self)
            case .presentation: presentation = try ForegroundPolicy(&scanner)
            }
        }
        let known = try scanner.required(identifier, Field.identifier)
        (self.identifier, name) = (known, Array(known.utf8))
        (self.actions, intentIdentifiers, self.options) = (actions, intents, options)
        (hiddenPreviewsBodyPlaceholder, categorySummaryFormat) = (placeholder, summaryFormat)
        (self.response, self.presentation) = (response, presentation)
        var json: [UInt8] = []
        actions.writeJSON(to: &json)
        actionsJSON = json[...]
        kept = KeptCategory(
            identifier: known,
            hasDismissAction: options.contains(.customDismissAction),
            response: response,
            actions: actions.filter { $0.textInput == nil }.map(\.identifier),
            textActions: actions.filter { $0.textInput != nil }.map(\.identifier)
        )
    }
}

extension NotificationCategory: Hashable {
    /// Whether all fields are equal.
    public static func == (one: NotificationCategory, other: NotificationCategory) -> Bool {
        one === other
            || (one.identifier == other.identifier && one.actions == other.actions
                && one.intentIdentifiers == other.intentIdentifiers && one.options == other.options
                && one.hiddenPreviewsBodyPlaceholder == other.hiddenPreviewsBodyPlaceholder
                && one.categorySummaryFormat == other.categorySummaryFormat && one.response == other.response
                && one.presentation == other.presentation)
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension NotificationCategory: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.identifier, identifier, &out)
        if !actions.isEmpty {
            object.begin(Field.actions, &out)
            JSONWriter.append(raw: actionsJSON, to: &out)
        }
        object.member(Field.intentIdentifiers, intentIdentifiers.isEmpty ? nil : intentIdentifiers, &out)
        object.member(Field.options, options.isEmpty ? nil : options, &out)
        object.member(Field.hiddenPreviewsBodyPlaceholder, hiddenPreviewsBodyPlaceholder, &out)
        object.member(Field.categorySummaryFormat, categorySummaryFormat, &out)
        object.member(Field.response, response == .forward ? nil : response.rawValue, &out)
        object.member(Field.presentation, presentation, &out)
        object.end(&out)
    }
}

extension NotificationCategory.Options: NamedOptions {
    @usableFromInline package static let names: [(name: StaticString, option: NotificationCategory.Options)] = [
        ("customDismissAction", .customDismissAction), ("allowInCarPlay", .allowInCarPlay),
        ("hiddenPreviewsShowTitle", .hiddenPreviewsShowTitle),
        ("hiddenPreviewsShowSubtitle", .hiddenPreviewsShowSubtitle), ("allowAnnouncement", .allowAnnouncement),
    ]
}
