/// How several notifications become one:
/// `{"by":"thread","window":600,"title":"{{count}} updates","body":"{{titles}}"}`.
///
/// The notifications of a recipient with one thread, or one category, are collected for ``window`` from the first one on,
/// and sent as one notification.
public struct DigestPolicy: Sendable, Hashable {
    /// What the collected notifications have in common.
    public enum Group: String, CaseIterable, Sendable, Hashable {
        /// Their `threadIdentifier`.
        case thread
        /// Their `categoryIdentifier`.
        case category
    }

    /// What the collected notifications have in common.
    public var by: Group
    /// Milliseconds from the first notification to the digest, from 1 second to ``ModelLimits/digestWindow``. In JSON seconds.
    public var window: Int64
    /// The template of the digest's title, at most ``ModelLimits/shortTextBytes``; nil for the last notification's title.
    public var title: String?
    /// The template of the digest's body, at most ``ModelLimits/shortTextBytes``; nil for the last notification's body.
    public var body: String?

    /// A policy.
    ///
    /// - Parameters:
    ///   - by: what the collected notifications have in common.
    ///   - window: how many milliseconds they are collected.
    ///   - title: the template of the digest's title.
    ///   - body: the template of the digest's body.
    public init(by: Group, window: Int64, title: String? = nil, body: String? = nil) {
        (self.by, self.window, self.title, self.body) = (by, window, title, body)
    }

    /// Checks that a request can have this policy: its trigger does not repeat, and its content belongs to a group. Throws
    /// `invalid` at `digest` or `digest.by`.
    func check(trigger: NotificationTrigger, content: UnsafeRawBufferPointer) throws(ModelError) {
        guard !trigger.repeats else {
            throw ModelError(.invalid, field: "digest", "cannot be combined with a trigger that repeats")
        }
        var hasGroup = false
        var scanner = JSONScanner(content)
        try scanner.object { scanner, name throws(ModelError) in
            guard try scanner.field(name, of: GroupField.self) == by.field else { return try scanner.skipValue() }
            hasGroup = try scanner.string().count > 0
        }
        guard hasGroup else {
            throw ModelError(
                .invalid,
                field: "digest.by",
                "is \(by.rawValue): set content.\(by.field.rawValue.text), which names the group"
            )
        }
    }
}

extension DigestPolicy {
    /// What the members of a digest share: `thread:` or `category:` and its identifier; nil for a content without one.
    public func group(of content: ArraySlice<UInt8>) -> String? {
        let facts = ContentFacts(content)
        let name = by == .thread ? facts.thread : facts.category
        return name.map { "\(by.rawValue):\($0.string(in: content))" }
    }
}

/// The members of a content that name a group.
private enum GroupField: FieldName {
    case threadIdentifier, categoryIdentifier
}

extension DigestPolicy.Group {
    fileprivate var field: GroupField {
        switch self {
        case .thread: .threadIdentifier
        case .category: .categoryIdentifier
        }
    }
}

extension DigestPolicy: JSONWritable {
    fileprivate enum Field: FieldName {
        case by, window, title, body
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.by, by.rawValue, &out)
        object.member(Field.window, Double(window) / 1000, &out)
        object.member(Field.title, title, &out)
        object.member(Field.body, body, &out)
        object.end(&out)
    }
}

extension JSONScanner {
    mutating func digestPolicy(_ origin: JSONOrigin) throws(ModelError) -> DigestPolicy {
        var (by, window): (DigestPolicy.Group?, Double?)
        var (title, body): (String?, String?)
        try object(of: DigestPolicy.Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .by: by = try scanner.choice(DigestPolicy.Group.self)
            case .window: window = try scanner.decimal(in: 1...ModelLimits.digestWindow)
            case .title: title = try scanner.digestTemplate(origin)
            case .body: body = try scanner.digestTemplate(origin)
            }
        }
        return DigestPolicy(
            by: try required(by, DigestPolicy.Field.by),
            window: NotificationTrigger.milliseconds(try required(window, DigestPolicy.Field.window)),
            title: title,
            body: body
        )
    }

    private mutating func digestTemplate(_ origin: JSONOrigin) throws(ModelError) -> String {
        let text = materialise(try string(bytes: 1...ModelLimits.shortTextBytes))
        guard origin != .state else { return text }
        do throws(TemplateError) {
            _ = try Template<DigestVariable>(text)
        } catch {
            throw value(error.message)
        }
        return text
    }
}
