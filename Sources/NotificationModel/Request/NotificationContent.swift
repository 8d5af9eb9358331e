/// The content of a notification. Nil means: not set.
///
/// Names and meanings are those of `UNNotificationContent`. Texts are shown unchanged.
public struct NotificationContent: Hashable, Sendable {
    /// First line.
    public var title: String?
    /// Second line.
    public var subtitle: String?
    /// The text.
    public var body: String?
    /// Title as a key of the app's localized strings.
    public var titleLocalization: Localization?
    /// Subtitle as a key of the app's localized strings.
    public var subtitleLocalization: Localization?
    /// Body as a key of the app's localized strings.
    public var bodyLocalization: Localization?
    /// Variants of title, subtitle and body by locale, such as `zh-Hans`: each device gets those of its own, and otherwise those of
    /// the content. At most 200, and ``ModelLimits/localizationsBytes`` together.
    public var localizations: [String: LocalizedTexts]?
    /// Number on the icon: 0 removes it, nil leaves it. 0 to ``ModelLimits/badge``.
    public var badge: Int64?
    /// What the number on the icon grows by, 1 to ``ModelLimits/badgeIncrement``; not together with ``badge``.
    public var badgeIncrement: Int64?
    /// The sound to play.
    public var sound: NotificationSound?
    /// Selects the actions.
    public var categoryIdentifier: String?
    /// Groups related notifications.
    public var threadIdentifier: String?
    /// Image or storyboard shown while the app launches.
    public var launchImageName: String?
    /// Selects the scene that opens.
    public var targetContentIdentifier: String?
    /// How much it may disturb; nil is `active`.
    public var interruptionLevel: InterruptionLevel?
    /// What it shows while the app is in the foreground; nil leaves it to the category.
    public var presentation: ForegroundPolicy?
    /// Sort order in the summary, 0 to 1.
    public var relevanceScore: Double?
    /// Read by Focus filters.
    public var filterCriteria: String?
    /// Text for the summary of a group; systems since iOS 15 ignore it.
    public var summaryArgument: String?
    /// How many items it counts as in the summary of a group, at least 0; systems since iOS 15 ignore it.
    public var summaryArgumentCount: Int64?
    /// Whether the content may be changed (attachments fetched) before delivery.
    public var mutableContent: Bool?
    /// Media to fetch, at most ``ModelLimits/attachments``, identifiers unique.
    public var attachments: [NotificationAttachment]?
    /// The app's own data: a JSON object.
    public var userInfo: JSONValue?
    /// What a Live Activity shows; nil for a notification.
    public var liveActivity: LiveActivityContent?

    /// Content with the given fields.
    public init(
        title: String? = nil,
        subtitle: String? = nil,
        body: String? = nil,
        titleLocalization: Localization? = nil,
        subtitleLocalization: Localization? = nil,
        bodyLocalization: Localization? = nil,
        badge: Int64? = nil,
        badgeIncrement: Int64? = nil,
        sound: NotificationSound? = nil,
        categoryIdentifier: String? = nil,
        threadIdentifier: String? = nil,
        launchImageName: String? = nil,
        targetContentIdentifier: String? = nil,
        interruptionLevel: InterruptionLevel? = nil,
        presentation: ForegroundPolicy? = nil,
        relevanceScore: Double? = nil,
        filterCriteria: String? = nil,
        summaryArgument: String? = nil,
        summaryArgumentCount: Int64? = nil,
        mutableContent: Bool? = nil,
        attachments: [NotificationAttachment]? = nil,
        userInfo: JSONValue? = nil,
        localizations: [String: LocalizedTexts]? = nil,
        liveActivity: LiveActivityContent? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.titleLocalization = titleLocalization
        self.subtitleLocalization = subtitleLocalization
        self.bodyLocalization = bodyLocalization
        self.badge = badge
        self.badgeIncrement = badgeIncrement
        self.sound = sound
        self.categoryIdentifier = categoryIdentifier
        self.threadIdentifier = threadIdentifier
        self.launchImageName = launchImageName
        self.targetContentIdentifier = targetContentIdentifier
        self.interruptionLevel = interruptionLevel
        self.presentation = presentation
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
        self.summaryArgument = summaryArgument
        self.summaryArgumentCount = summaryArgumentCount
        self.mutableContent = mutableContent
        self.attachments = attachments
        self.userInfo = userInfo
        self.localizations = localizations
        self.liveActivity = liveActivity
    }
}

/// The texts of a content in a locale. Nil: as in the content.
public struct LocalizedTexts: Hashable, Sendable {
    /// First line.
    public var title: String?
    /// Second line.
    public var subtitle: String?
    /// The text.
    public var body: String?

    /// Texts; at least one must be set.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        (self.title, self.subtitle, self.body) = (title, subtitle, body)
    }
}

/// A text that the device looks up in the app's localized strings.
public struct Localization: Hashable, Sendable {
    /// Key of the string, not empty.
    public var key: String
    /// Arguments for the `%@` of the string, in order; at most ``ModelLimits/localizationArguments``.
    public var arguments: [String]?

    /// A localized text.
    public init(key: String, arguments: [String]? = nil) {
        self.key = key
        self.arguments = arguments
    }
}

/// How much a notification may interrupt.
public enum InterruptionLevel: String, CaseIterable, Hashable, Sendable, Codable {
    /// Only added to the list.
    case passive
    /// Lights the screen, may sound.
    case active
    /// Also breaks through Focus and summaries.
    case timeSensitive
    /// Also sounds when muted; needs an entitlement.
    case critical
}

extension InterruptionLevel {
    private enum Field: FieldName {
        case interruptionLevel
    }

    /// Reads only the level of a content, a JSON object; nil if it has none.
    public init?(ofContent json: ArraySlice<UInt8>) {
        guard json.mayName("interruptionLevel", around: 12) else { return nil }
        var level: InterruptionLevel?
        try? json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            try scanner.whole { scanner throws(ModelError) in
                _ = try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
                    switch field {
                    case .interruptionLevel: level = try scanner.choice(InterruptionLevel.self)
                    }
                }
            }
        }
        guard let level else { return nil }
        self = level
    }
}

/// The sound to play. In JSON a string (`"bell.caf"`), or an object when it is critical or has a volume.
public struct NotificationSound: Hashable, Sendable {
    /// Name of the sound file; `default` is the system's default sound.
    public var name: String
    /// Sounds even when the device is muted; nil is false.
    public var critical: Bool?
    /// Volume of a critical sound, 0 to 1.
    public var volume: Double?

    /// The system's default sound.
    public static let `default` = NotificationSound(name: "default")

    /// A sound.
    public init(name: String = "default", critical: Bool? = nil, volume: Double? = nil) {
        self.name = name
        self.critical = critical
        self.volume = volume
    }
}

/// Media to fetch and attach.
public struct NotificationAttachment: Hashable, Sendable {
    /// Unique within the notification, 1 to 256 bytes without control characters.
    public var identifier: String
    /// Absolute http or https URL with a host.
    public var url: String
    /// How to show it.
    public var options: Options?

    /// An attachment.
    public init(identifier: String, url: String, options: Options? = nil) {
        self.identifier = identifier
        self.url = url
        self.options = options
    }

    /// How to show an attachment.
    public struct Options: Hashable, Sendable {
        /// Uniform type identifier, when the file's name does not imply it.
        public var typeHint: String?
        /// No thumbnail; nil is false.
        public var thumbnailHidden: Bool?
        /// The part of the image for the thumbnail.
        public var thumbnailClippingRect: ClippingRect?
        /// The thumbnail's position in a movie in seconds (or frame of an animation), at least 0.
        public var thumbnailTime: Double?

        /// Options with the given fields.
        public init(
            typeHint: String? = nil,
            thumbnailHidden: Bool? = nil,
            thumbnailClippingRect: ClippingRect? = nil,
            thumbnailTime: Double? = nil
        ) {
            self.typeHint = typeHint
            self.thumbnailHidden = thumbnailHidden
            self.thumbnailClippingRect = thumbnailClippingRect
            self.thumbnailTime = thumbnailTime
        }
    }

    /// A rectangle in units of the image: each of the four 0 to 1.
    public struct ClippingRect: Hashable, Sendable {
        /// Left edge.
        public var x: Double
        /// Top edge.
        public var y: Double
        /// Width.
        public var width: Double
        /// Height.
        public var height: Double

        /// A rectangle.
        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }
}
