extension NotificationContent {
    private enum GateField: FieldName {
        case mutableContent, title, subtitle, body, titleLocalization, subtitleLocalization, bodyLocalization
    }

    /// Whether content asks for enrichment: `mutableContent` is true, and there is alert text, a title, subtitle or body or
    /// the localization of one. A notification service extension runs under the same conditions.
    ///
    /// - Parameter json: a content object that was validated; false for anything else.
    public static func asksForEnrichment(_ json: ArraySlice<UInt8>) -> Bool {
        guard json.mayName("mutableContent", around: 7) else { return false }
        let gate = try? json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try readGate(&scanner) }
        }
        return gate ?? false
    }

    /// Whether content has alert text: a title, subtitle or body that is not empty, or the localization of one.
    ///
    /// - Parameter json: a content object; false for anything else.
    public static func hasAlertText(_ json: ArraySlice<UInt8>) -> Bool {
        let hasText = try? json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            return try scanner.whole { scanner throws(ModelError) in try readGate(&scanner, mustBeMutable: false) }
        }
        return hasText ?? false
    }

    private static func readGate(_ scanner: inout JSONScanner, mustBeMutable: Bool = true) throws(ModelError) -> Bool {
        var (isMutable, hasText) = (!mustBeMutable, false)
        try scanner.object(of: GateField.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .mutableContent:
                let value = try scanner.boolean()
                isMutable = isMutable || value
            case .title, .subtitle, .body:
                let text = try scanner.string()
                hasText = hasText || text.count > 0
            case .titleLocalization, .subtitleLocalization, .bodyLocalization:
                try scanner.skipValue()
                hasText = true
            }
        }
        return isMutable && hasText
    }
}
