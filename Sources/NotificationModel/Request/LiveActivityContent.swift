/// What a Live Activity shows. Its alert is the content's title, body and sound.
///
/// The first request under an identifier starts it on phones that have registered a token for that, the next ones update it, and a
/// removal ends it. Only Apple devices have Live Activities, by the channels `apns` and `devices`.
public struct LiveActivityContent: Hashable, Sendable {
    /// The name of the app's `ActivityAttributes`, 1 to ``ModelLimits/attributesTypeBytes``; together with ``attributes``.
    public var attributesType: String?
    /// What the app's attributes decode, an object. Without them nothing is started: devices without the activity get nothing.
    public var attributes: JSONValue?
    /// What the app's `ContentState` decodes with the default `JSONDecoder`, an object.
    public var contentState: JSONValue
    /// From then on it counts as outdated; it may have passed.
    public var staleDate: Timestamp?
    /// When it disappears once it was removed; nil or the past for at once.
    public var dismissalDate: Timestamp?
    /// Any number: the activity with the highest is shown first.
    public var relevanceScore: Double?
    /// The id of the broadcast channel by which an activity that is started gets its updates, in the place of a token of its own.
    public var broadcastChannel: String?

    /// What an activity shows.
    public init(
        contentState: JSONValue,
        attributesType: String? = nil,
        attributes: JSONValue? = nil,
        staleDate: Timestamp? = nil,
        dismissalDate: Timestamp? = nil,
        relevanceScore: Double? = nil,
        broadcastChannel: String? = nil
    ) {
        (self.contentState, self.attributesType, self.attributes) = (contentState, attributesType, attributes)
        (self.staleDate, self.dismissalDate) = (staleDate, dismissalDate)
        (self.relevanceScore, self.broadcastChannel) = (relevanceScore, broadcastChannel)
    }
}

private enum LiveActivityField: FieldName {
    case attributesType, attributes, contentState, staleDate, dismissalDate, relevanceScore, broadcastChannel
}

extension LiveActivityContent: JSONWritable {
    /// Converts what a scan has validated.
    init(valid value: JSONValue) {
        func instant(_ name: String) -> Timestamp? { value[name]?.stringValue.flatMap { Timestamp(rfc3339: $0) } }
        self.init(
            contentState: value["contentState"] ?? .object([]),
            attributesType: value["attributesType"]?.stringValue,
            attributes: value["attributes"],
            staleDate: instant("staleDate"),
            dismissalDate: instant("dismissalDate"),
            relevanceScore: value["relevanceScore"]?.doubleValue,
            broadcastChannel: value["broadcastChannel"]?.stringValue
        )
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(LiveActivityField.attributesType, attributesType, &out)
        if let attributes {
            object.begin(LiveActivityField.attributes, &out)
            attributes.write(to: &out)
        }
        object.begin(LiveActivityField.contentState, &out)
        contentState.write(to: &out)
        object.member(LiveActivityField.staleDate, staleDate, &out)
        object.member(LiveActivityField.dismissalDate, dismissalDate, &out)
        object.member(LiveActivityField.relevanceScore, relevanceScore, &out)
        object.member(LiveActivityField.broadcastChannel, broadcastChannel, &out)
        object.end(&out)
    }
}

extension JSONScanner {
    /// Validates what a Live Activity shows.
    ///
    /// - Returns: where it is, and whether an activity can be started with it.
    mutating func liveActivity() throws(ModelError) -> (range: Range<Int>, starts: Bool) {
        let start = position
        let seen = try object(of: LiveActivityField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .attributesType: _ = try scanner.printableText(bytes: 1...ModelLimits.attributesTypeBytes)
            case .attributes, .contentState:
                guard scanner.peek() == 0x7B else { throw scanner.unexpected("an object") }
                try scanner.skipValue()
            case .staleDate, .dismissalDate: _ = try scanner.timestamp()
            case .relevanceScore:
                _ = try scanner.decimal(in: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
            case .broadcastChannel:
                let id = scanner.materialise(try scanner.string())
                do throws(ModelError) {
                    _ = try DeviceToken.channel(id)
                } catch {
                    throw scanner.value(error.detail)
                }
            }
        }
        try seen.require(.contentState)
        guard seen.contains(.attributes) == seen.contains(.attributesType) else {
            let field = seen.contains(.attributes) ? "attributesType" : "attributes"
            throw ModelError(.invalid, field: field, "is missing: attributes and their type belong together")
        }
        guard !seen.contains(.broadcastChannel) || seen.contains(.attributes) else {
            throw ModelError(.invalid, field: "broadcastChannel", "is for a start: it needs attributes")
        }
        return (start..<position, seen.contains(.attributes))
    }
}

/// What of a Live Activity's content decides where it goes.
package struct LiveActivityFacts: Sendable, Hashable {
    /// The type of the activities that it can start; nil when it starts none.
    package var attributesType: String?
    /// Whether an activity that it starts gets its updates by a broadcast channel.
    package var followsChannel = false
    /// When it disappears after its end.
    package var dismissalDate: Timestamp?

    /// Nil for a content that is no Live Activity.
    ///
    /// - Parameters:
    ///   - facts: of the content.
    ///   - content: what they were read from.
    package init?(_ facts: ContentFacts, in content: ArraySlice<UInt8>) {
        guard let range = facts.liveActivity else { return nil }
        try? content[range].borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            try scanner.whole { scanner throws(ModelError) in
                _ = try scanner.object(of: LiveActivityField.self, from: .state) { scanner, field throws(ModelError) in
                    switch field {
                    case .attributesType: attributesType = scanner.materialise(try scanner.string())
                    case .broadcastChannel:
                        followsChannel = true
                        try scanner.skipValue()
                    case .dismissalDate: dismissalDate = try scanner.timestamp()
                    case .attributes, .contentState, .staleDate, .relevanceScore: try scanner.skipValue()
                    }
                }
            }
        }
    }

    /// Reads a content; nil for one that is no Live Activity, which is found out without a scan nearly always.
    package init?(_ content: ArraySlice<UInt8>) {
        guard Self.mayBe(in: content) else { return nil }
        self.init(ContentFacts(content), in: content)
    }

    /// Whether a content may be a Live Activity, by a search that costs less than a scan.
    package static func mayBe(in content: ArraySlice<UInt8>) -> Bool { content.withUnsafeBytes { mayBe(in: $0) } }

    /// The same. A name with escapes is refused, since nearly all contents have none of it, and pay for no scan.
    static func mayBe(in content: UnsafeRawBufferPointer) -> Bool { content.hasText("\"liveActivity\"", around: 5) }
}
