/// The fields of a notification's content.
private enum ContentField: FieldName {
    case title, subtitle, body, badge, sound, userInfo, categoryIdentifier, threadIdentifier, mutableContent
    case attachments, interruptionLevel, relevanceScore, titleLocalization, subtitleLocalization, bodyLocalization
    case launchImageName, targetContentIdentifier, filterCriteria, summaryArgument, summaryArgumentCount
    case badgeIncrement, presentation, localizations, liveActivity
}

extension ContentField {
    /// What the alert of a Live Activity cannot say.
    fileprivate static let unknownToActivities: [ContentField] = [
        .subtitle, .subtitleLocalization, .badge, .badgeIncrement, .categoryIdentifier, .threadIdentifier,
        .launchImageName, .targetContentIdentifier, .relevanceScore, .filterCriteria, .summaryArgument,
        .summaryArgumentCount, .mutableContent, .attachments, .userInfo, .presentation,
    ]
}

private enum LocalizationField: FieldName {
    case key, arguments
}

private enum VariantField: FieldName {
    case title, subtitle, body
}

private enum SoundField: FieldName {
    case name, critical, volume
}

extension JSONScanner {
    /// - Returns: whether it has a name that a payload of APNs needs for itself.
    private mutating func userInfo() throws(ModelError) -> Bool {
        var isReserved = false
        do throws(ModelError) {
            try object { scanner, name throws(ModelError) in
                isReserved =
                    try scanner.withBytes(name) { APNsCoherence.isReserved(FieldName(bytes: $0)) } || isReserved
                try scanner.skipValue()
            }
        } catch {
            // Of the whole: names within it are the sender's.
            throw ModelError(error.reason, field: "", error.detail)
        }
        return isReserved
    }

    /// Validates content without copying it.
    ///
    /// - Parameter coherence: notes the parts that must belong together.
    /// - Returns: what decides its presentation; texts by their indices in the scanned bytes.
    mutating func content(_ coherence: inout APNsCoherence) throws(ModelError) -> ContentFacts {
        let start = position
        var facts = ContentFacts()
        // Empty content means that something was omitted by mistake.
        var isSubstantial = false
        let short = 0...ModelLimits.shortTextBytes
        let seen = try object(of: ContentField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .title, .subtitle, .body:
                let text = try scanner.string()
                facts.hasAlert = facts.hasAlert || text.count > 0
            case .titleLocalization, .subtitleLocalization, .bodyLocalization:
                try scanner.localization()
                facts.hasAlert = true
            case .badge:
                facts.badge = try scanner.integer(in: 0...ModelLimits.badge)
                isSubstantial = true
            case .badgeIncrement:
                facts.badgeIncrement = try scanner.integer(in: 1...ModelLimits.badgeIncrement)
                isSubstantial = true
            case .presentation:
                facts.foreground = try ForegroundPolicy(&scanner)
            case .sound:
                (facts.hasSound, facts.hasCriticalSound) = (true, try scanner.sound())
                isSubstantial = true
            case .categoryIdentifier:
                // It can become part of a digest's key, and so can the thread.
                facts.category = ContentFacts.Text(try scanner.printableText(bytes: short), after: 0)
            case .threadIdentifier:
                facts.thread = ContentFacts.Text(try scanner.printableText(bytes: short), after: 0)
            case .launchImageName, .targetContentIdentifier, .filterCriteria, .summaryArgument:
                _ = try scanner.string(bytes: short)
            case .interruptionLevel:
                facts.level = try scanner.choice(InterruptionLevel.self)
                coherence.level = facts.level
            case .relevanceScore:
                _ = try scanner.decimal(in: 0...1)
            case .summaryArgumentCount:
                _ = try scanner.integer(in: 0...ModelLimits.badge)
            case .mutableContent:
                coherence.isMutable = try scanner.boolean()
            case .attachments:
                let count = try scanner.attachments()
                isSubstantial = isSubstantial || count > 0
            case .localizations:
                facts.localizations = try scanner.localizations()
            case .liveActivity:
                guard
                    LiveActivityFacts.mayBe(
                        in: UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.position])
                    )
                else {
                    throw ModelError(.invalid, field: "", "must be written without escapes in its name")
                }
                let activity = try scanner.liveActivity()
                (facts.liveActivity, coherence.startsActivity) = (activity.range, activity.starts)
                isSubstantial = true
            case .userInfo:
                let start = scanner.position
                coherence.hasReservedName = try scanner.userInfo()
                isSubstantial = isSubstantial || !scanner.isEmptyObject(start, scanner.position)
                coherence.userInfo = start..<scanner.position
            }
        }
        guard !seen.contains(.badge) || !seen.contains(.badgeIncrement) else {
            throw ModelError(.invalid, field: "badgeIncrement", "must not appear together with badge")
        }
        guard facts.localizations == nil || facts.hasAlert else {
            throw ModelError(
                .invalid,
                field: "localizations",
                "needs a title, subtitle or body of the content for devices of other locales"
            )
        }
        guard isSubstantial || facts.hasAlert else {
            throw value(
                "is empty: set a title, subtitle, body, badge, sound, attachment or userInfo"
            )
        }
        if facts.liveActivity != nil {
            for field in ContentField.unknownToActivities where seen.contains(field) {
                throw ModelError(.invalid, field: field.rawValue.text, "has no place in a Live Activity: leave it out")
            }
            func has(_ text: ContentField, _ localization: ContentField) -> Bool {
                seen.contains(text) || seen.contains(localization)
            }
            coherence.hasWholeAlert = has(.title, .titleLocalization) && has(.body, .bodyLocalization)
        }
        (coherence.hasText, coherence.hasCriticalSound) = (facts.hasAlert, facts.hasCriticalSound)
        return facts
    }

    private func isEmptyObject(_ start: Int, _ end: Int) -> Bool {
        bytes[(start + 1)..<(end - 1)].allSatisfy { $0 <= 0x20 }
    }

    /// Variants of the texts by locale: `{"de":{"title":"Unterwegs"}}`.
    ///
    /// - Returns: where they are.
    private mutating func localizations() throws(ModelError) -> Range<Int> {
        let start = position
        var (table, count) = (LocaleTable(fallback: nil), 0)
        try object { scanner, name throws(ModelError) in
            let tag = scanner.materialise(name)
            guard LocaleTable.isTag(tag) else { throw scanner.value("is not a locale such as en, pt-BR or zh-Hans") }
            count += 1
            guard count <= LocaleTable.maximumCount else {
                throw scanner.value("at most \(LocaleTable.maximumCount) locales are allowed")
            }
            guard table.insert(tag, body: count) else { throw scanner.value("is there twice") }
            try scanner.variant()
        }
        guard count > 0 else { throw value("is empty") }
        guard position - start <= ModelLimits.localizationsBytes else {
            throw value("has \(position - start) bytes, at most \(ModelLimits.localizationsBytes) are allowed")
        }
        return start..<position
    }

    private mutating func variant() throws(ModelError) {
        let seen = try object(of: VariantField.self, from: .body) { scanner, _ throws(ModelError) in
            _ = try scanner.string()
        }
        guard !seen.isEmpty else { throw value("is empty: set a title, subtitle or body") }
    }

    private mutating func localization() throws(ModelError) {
        let seen = try object(of: LocalizationField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .key:
                _ = try scanner.string(bytes: 1...ModelLimits.shortTextBytes)
            case .arguments:
                try scanner.array { scanner, index throws(ModelError) in
                    guard index < ModelLimits.localizationArguments else {
                        throw scanner.value("at most \(ModelLimits.localizationArguments) arguments are allowed")
                    }
                    _ = try scanner.string()
                }
            }
        }
        try seen.require(.key)
    }

    /// - Returns: whether it is a critical one.
    private mutating func sound() throws(ModelError) -> Bool {
        if peek() == 0x22 {
            _ = try string(bytes: 1...ModelLimits.shortTextBytes)
            return false
        }
        guard peek() == 0x7B else { throw unexpected("a string or an object") }
        var isCritical = false
        try object(of: SoundField.self, from: .body) { scanner, field throws(ModelError) in
            switch field {
            case .name: _ = try scanner.string(bytes: 1...ModelLimits.shortTextBytes)
            case .critical: isCritical = try scanner.boolean()
            case .volume: _ = try scanner.decimal(in: 0...1)
            }
        }
        return isCritical
    }
}
