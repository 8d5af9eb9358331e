import NotificationModel

/// Where the parts of a content are in its JSON: one pass, nothing is copied. It means something only together with the scanned bytes.
struct ContentParts {
    private(set) var title: JSONStringToken?
    private(set) var subtitle: JSONStringToken?
    private(set) var body: JSONStringToken?
    private(set) var titleLocalization: LocalizationParts?
    private(set) var subtitleLocalization: LocalizationParts?
    private(set) var bodyLocalization: LocalizationParts?
    private(set) var launchImageName: JSONStringToken?
    private(set) var summaryArgument: JSONStringToken?
    /// The positions of values.
    private(set) var summaryArgumentCount: Int?
    private(set) var relevanceScore: Int?
    private(set) var attachments: Int?
    private(set) var userInfo: Int?
    private(set) var sound: SoundParts?
    private(set) var categoryIdentifier: JSONStringToken?
    private(set) var threadIdentifier: JSONStringToken?
    private(set) var targetContentIdentifier: JSONStringToken?
    private(set) var filterCriteria: JSONStringToken?
    private(set) var interruptionLevel: InterruptionLevel?
    private(set) var isMutable = false

    struct LocalizationParts {
        var key: JSONStringToken
        /// The position of the array.
        var arguments: Int?
    }

    struct SoundParts {
        /// Nil for the default sound.
        var name: JSONStringToken?
        var isCritical = false
        /// The position of the number.
        var volume: Int?
    }

    private enum Field: FieldName {
        case title, subtitle, body, titleLocalization, subtitleLocalization, bodyLocalization, sound
        case categoryIdentifier, threadIdentifier, launchImageName, targetContentIdentifier, interruptionLevel
        case relevanceScore, filterCriteria, summaryArgument, summaryArgumentCount, mutableContent, attachments,
            userInfo, localizations
    }

    private enum VariantField: FieldName {
        case title, subtitle, body
    }

    private enum LocalizationField: FieldName {
        case key, arguments
    }

    private enum SoundField: FieldName {
        case name, critical, volume
    }

    /// Reads a content object. The badge is the device's, and what is unknown a newer version's.
    ///
    /// - Parameter localization: the variant whose texts take the place of the content's.
    init(_ scanner: inout JSONScanner, localization: String? = nil) throws(ModelError) {
        var localizations: Int?
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .title: title = try scanner.string()
            case .subtitle: subtitle = try scanner.string()
            case .body: body = try scanner.string()
            case .titleLocalization: titleLocalization = try Self.localization(&scanner)
            case .subtitleLocalization: subtitleLocalization = try Self.localization(&scanner)
            case .bodyLocalization: bodyLocalization = try Self.localization(&scanner)
            case .sound: sound = try Self.sound(&scanner)
            case .categoryIdentifier: categoryIdentifier = try scanner.string()
            case .threadIdentifier: threadIdentifier = try scanner.string()
            case .launchImageName: launchImageName = try scanner.string()
            case .targetContentIdentifier: targetContentIdentifier = try scanner.string()
            case .interruptionLevel: interruptionLevel = try scanner.choice(InterruptionLevel.self)
            case .relevanceScore: relevanceScore = try Self.place(&scanner)
            case .filterCriteria: filterCriteria = try scanner.string()
            case .summaryArgument: summaryArgument = try scanner.string()
            case .summaryArgumentCount: summaryArgumentCount = try Self.place(&scanner)
            case .mutableContent: isMutable = try scanner.boolean()
            case .attachments: attachments = try Self.place(&scanner)
            case .userInfo: userInfo = try Self.place(&scanner)
            case .localizations: localizations = try Self.place(&scanner)
            }
        }
        if let localization, let localizations { try localize(scanner, at: localizations, as: localization) }
    }

    private mutating func localize(_ scanner: JSONScanner, at place: Int, as tag: String) throws(ModelError) {
        var scanner = scanner
        scanner.position = place
        try scanner.object { scanner, name throws(ModelError) in
            guard scanner.materialise(name).hasSameUTF8(as: tag) else { return try scanner.skipValue() }
            try scanner.object(of: VariantField.self, from: .state) { scanner, field throws(ModelError) in
                // A localization key would take the place of the text.
                switch field {
                case .title: (title, titleLocalization) = (try scanner.string(), nil)
                case .subtitle: (subtitle, subtitleLocalization) = (try scanner.string(), nil)
                case .body: (body, bodyLocalization) = (try scanner.string(), nil)
                }
            }
        }
    }

    private static func place(_ scanner: inout JSONScanner) throws(ModelError) -> Int {
        let place = scanner.position
        try scanner.skipValue()
        return place
    }

    private static func localization(_ scanner: inout JSONScanner) throws(ModelError) -> LocalizationParts {
        var (key, arguments): (JSONStringToken?, Int?)
        try scanner.object(of: LocalizationField.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .key: key = try scanner.string()
            case .arguments: arguments = try place(&scanner)
            }
        }
        return LocalizationParts(key: try scanner.required(key, LocalizationField.key), arguments: arguments)
    }

    private static func sound(_ scanner: inout JSONScanner) throws(ModelError) -> SoundParts {
        var sound = SoundParts()
        guard scanner.peek() == 0x7B else {
            sound.name = try scanner.string()
            return sound
        }
        try scanner.object(of: SoundField.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .name: sound.name = try scanner.string()
            case .critical: sound.isCritical = try scanner.boolean()
            case .volume: sound.volume = try place(&scanner)
            }
        }
        return sound
    }
}

extension ContentParts {
    /// Whether there is a title, subtitle or body that is not empty, or the localization of one.
    var hasAlertText: Bool {
        func isText(_ text: JSONStringToken?) -> Bool { text.map { $0.count > 0 } ?? false }
        return isText(title) || isText(subtitle) || isText(body) || titleLocalization != nil
            || subtitleLocalization != nil || bodyLocalization != nil
    }

    private enum AttachmentField: FieldName {
        case url
    }

    /// The URL of the first attachment over `https`: Android and browsers load no other.
    ///
    /// - Parameter scanner: of the content.
    func secureImage(in scanner: JSONScanner) throws(ModelError) -> String? {
        guard let place = attachments else { return nil }
        var (scanner, image) = (scanner, String?.none)
        scanner.position = place
        try scanner.array { scanner, _ throws(ModelError) in
            try scanner.object(of: AttachmentField.self, from: .state) { scanner, _ throws(ModelError) in
                let url = scanner.materialise(try scanner.string())
                if image == nil, url.lowercased().hasPrefix("https://") { image = url }
            }
        }
        return image
    }
}
