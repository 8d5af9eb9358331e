/// What of a content decides how a device presents it. One pass over JSON that was validated before; nothing is copied.
public struct ContentFacts: Sendable, Hashable {
    /// A text inside a content; it means something only together with that content.
    public struct Text: Sendable, Hashable {
        /// The bytes between the quotes, in the content's indices.
        public let range: Range<Int>
        /// Whether the bytes have escapes, so that they are not the text.
        public let isEscaped: Bool

        /// Calls the body with the bytes of the text, escapes resolved; borrowed from the content when it has none.
        ///
        /// - Parameters:
        ///   - content: the content that the facts were read from.
        ///   - body: gets bytes that are valid until it returns.
        @inline(__always)
        public func withBytes<Result>(
            in content: ArraySlice<UInt8>,
            _ body: (UnsafeRawBufferPointer) -> Result
        ) -> Result {
            content[range].withUnsafeBytes { bytes in
                guard isEscaped else { return body(bytes) }
                let token = JSONStringToken(start: 0, end: bytes.count, isEscaped: true)
                return JSONScanner(bytes).unescaped(token).withUnsafeBytes(body)
            }
        }

        /// The text, escapes resolved.
        public func string(in content: ArraySlice<UInt8>) -> String {
            withBytes(in: content) { String(decoding: $0, as: UTF8.self) }
        }

        /// The text as JSON without quotes, the same for all ways of writing it; a slice of the content when it has no escapes.
        public func json(in content: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            guard isEscaped else { return content[range] }
            var json: [UInt8] = []
            withBytes(in: content) { JSONWriter.append(string: $0, to: &json) }
            return json[1..<(json.count - 1)]
        }
    }

    /// The category's identifier; nil when it is missing or empty.
    public var category: Text?
    /// The thread's identifier; nil when it is missing or empty.
    public var thread: Text?
    /// There is a title, subtitle or body that is not empty, or the localization of one. Attachments are shown with such a
    /// text only.
    public var hasAlert = false
    /// There is a sound.
    public var hasSound = false
    /// The sound is a critical one.
    public var hasCriticalSound = false
    /// The number for the icon.
    public var badge: Int64?
    /// What the number on the icon grows by; 0 when it is missing.
    public var badgeIncrement: Int64 = 0
    /// How much it may interrupt.
    public var level = InterruptionLevel.active
    /// The notification's own policy for an app in the foreground.
    public var foreground: ForegroundPolicy?
    /// The variants of the texts by locale, a JSON object in the content's indices.
    var localizations: Range<Int>?
    /// What a Live Activity shows, a JSON object in the content's indices; nil for a notification.
    var liveActivity: Range<Int>?

    /// Whether it is what a Live Activity shows.
    package var isLiveActivity: Bool { liveActivity != nil }

    /// A content without any of it.
    public init() {}

    /// Reads a content, a JSON object. Never throws: what cannot be read counts as absent.
    public init(_ content: ArraySlice<UInt8>) {
        content.withUnsafeBytes { bytes in
            // An enriched content may be nested deeper than a request.
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            scanner.skipWhitespace()
            _ = try? scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
                switch field {
                case .title, .subtitle, .body:
                    let text = try scanner.string()
                    hasAlert = hasAlert || text.count > 0
                case .titleLocalization, .subtitleLocalization, .bodyLocalization:
                    try scanner.skipValue()
                    hasAlert = true
                case .badge: badge = try scanner.integer(in: 0...ModelLimits.badge)
                case .badgeIncrement: badgeIncrement = try scanner.integer(in: 1...ModelLimits.badgeIncrement)
                case .sound: try readSound(&scanner)
                case .categoryIdentifier: category = Text(try scanner.string(), after: content.startIndex)
                case .threadIdentifier: thread = Text(try scanner.string(), after: content.startIndex)
                case .interruptionLevel: level = try scanner.interruptionLevel()
                case .presentation: foreground = try ForegroundPolicy(&scanner)
                case .localizations:
                    let start = content.startIndex + scanner.position
                    try scanner.skipValue()
                    localizations = start..<(content.startIndex + scanner.position)
                case .liveActivity:
                    let start = content.startIndex + scanner.position
                    try scanner.skipValue()
                    liveActivity = start..<(content.startIndex + scanner.position)
                }
            }
        }
    }

    private enum Field: FieldName {
        case title, subtitle, body, badge, sound, categoryIdentifier, threadIdentifier, interruptionLevel
        case titleLocalization, subtitleLocalization, bodyLocalization, badgeIncrement, presentation, localizations
        case liveActivity
    }

    private enum SoundField: FieldName {
        case critical
    }

    private mutating func readSound(_ scanner: inout JSONScanner) throws(ModelError) {
        var isCritical = false
        if scanner.peek() == 0x7B {
            try scanner.object(of: SoundField.self, from: .record) { scanner, field throws(ModelError) in
                switch field {
                case .critical: isCritical = try scanner.boolean()
                }
            }
        } else {
            _ = try scanner.string()
        }
        (hasSound, hasCriticalSound) = (true, isCritical)
    }
}

extension ContentFacts.Text {
    /// - Parameter start: the index of the first scanned byte.
    init?(_ token: JSONStringToken, after start: Int) {
        guard token.count > 0 else { return nil }
        range = (start + token.start)..<(start + token.end)
        isEscaped = token.isEscaped
    }
}

extension JSONScanner {
    /// As ``choice(_:)``, without a string.
    fileprivate mutating func interruptionLevel() throws(ModelError) -> InterruptionLevel {
        let text = try string()
        return try withBytes(text) { bytes throws(ModelError) in
            switch FieldName(bytes: bytes) {
            case "passive": .passive
            case "timeSensitive": .timeSensitive
            case "critical": .critical
            default: .active
            }
        }
    }
}
