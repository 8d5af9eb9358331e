/// The variants that a content has of its texts, by locale: `{"de":{"title":"Unterwegs"}}`.
package struct ContentLocalizations: Sendable {
    private var table = LocaleTable(fallback: nil)
    private var tags: [String] = []

    /// Nil for a content without variants.
    ///
    /// - Parameters:
    ///   - facts: of the content.
    ///   - content: what they were read from.
    package init?(_ facts: ContentFacts, in content: ArraySlice<UInt8>) {
        guard let range = facts.localizations else { return nil }
        try? content[range].borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            try scanner.whole { scanner throws(ModelError) in
                try scanner.object { scanner, name throws(ModelError) in
                    tags.append(scanner.materialise(name))
                    _ = table.insert(tags[tags.count - 1], body: tags.count)
                    try scanner.skipValue()
                }
            }
        }
    }

    /// The variant for a device, as the content spells it; nil for the texts of the content itself.
    ///
    /// - Parameter locale: of the device: `zh-Hans-CN` finds `zh-Hans`, then `zh`.
    package func tag(for locale: String?) -> String? {
        let place = table.body(for: locale)
        return place > 0 ? tags[place - 1] : nil
    }
}
