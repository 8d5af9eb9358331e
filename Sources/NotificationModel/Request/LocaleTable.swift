/// Selects a localization by the lookup of RFC 4647, section 3.4.
package struct LocaleTable: Hashable, Sendable {
    /// Maximum number of localizations of a rule or a content.
    package static let maximumCount = 200

    /// The index of the body by lower-case tag.
    private var bodies: [String: Int] = [:]
    /// The locale to use if the event's has no localization.
    private let fallback: String?

    /// A table without localizations.
    ///
    /// - Parameter fallback: A tag; nil for none.
    package init(fallback: String?) {
        self.fallback = fallback.map(Self.canonical)
    }

    /// Adds the localization of a tag.
    ///
    /// - Returns: False if the tag has one already, whatever its case.
    package mutating func insert(_ tag: String, body: Int) -> Bool {
        let tag = Self.canonical(tag)
        guard bodies[tag] == nil else { return false }
        bodies[tag] = body
        return true
    }

    /// The body for a locale: `zh-Hans-CN` falls back to `zh-Hans` and `zh`, then to the fallback locale in the same
    /// way, then to the base.
    ///
    /// - Parameter locale: Nil if there is none.
    package func body(for locale: String?) -> Int {
        // A locale is untrusted: longer than a tag with all common suffixes, it is not a locale.
        if let locale, locale.utf8.count <= 2 * Self.maximumTagBytes, let body = lookUp(Self.canonical(locale)) {
            return body
        }
        return fallback.flatMap(lookUp) ?? 0
    }

    /// Whether the fallback locale has a localization.
    package var hasFallback: Bool {
        fallback.flatMap(lookUp) != nil
    }

    private func lookUp(_ range: String) -> Int? {
        var subtags = range.split(separator: "-", omittingEmptySubsequences: false)
        while !subtags.isEmpty {
            if let body = bodies[subtags.joined(separator: "-")] { return body }
            subtags.removeLast()
            // A single letter only introduces the next subtag.
            if let last = subtags.last, last.utf8.count == 1 { subtags.removeLast() }
        }
        return nil
    }

    /// Tags are case-insensitive; systems also write `zh_Hans_CN`, `de_DE.UTF-8` and `en_US@calendar=japanese`.
    private static func canonical(_ tag: String) -> String {
        tag.prefix { $0 != "." && $0 != "@" }.replacing("_", with: "-").lowercased()
    }

    /// RFC 5646 has no limit; the longest registered tags are far shorter.
    package static let maximumTagBytes = 128

    /// Whether the text is written as a tag: subtags of one to eight letters and digits, the first of letters.
    package static func isTag(_ text: String) -> Bool {
        let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.utf8.count <= maximumTagBytes, let language = subtags.first else { return false }
        return subtags.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(\.isLetterOrDigit) }
            && language.allSatisfy { !$0.isDigit }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isLetterOrDigit: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) }
}
