extension DigestPolicy {
    /// The content of the digest, a JSON object.
    ///
    /// - `title` and `body` come from the templates, with `{{count}}`, `{{thread}}`, `{{category}}`, `{{titles}}` (the
    ///   different ones, joined by `, `), `{{first.title}}`, `{{last.title}}` and `{{last.body}}`. What the notifications
    ///   do not have is empty.
    /// - Without a template, the title or the body is the last notification's, with its localization. Without both, the
    ///   subtitle is `+2` for two others: it needs no translation.
    /// - `categoryIdentifier` and `threadIdentifier` are those of all notifications, or none.
    /// - `sound` and `interruptionLevel` are the strongest. `badge` is the last, and increments after it are added;
    ///   without a `badge`, `badgeIncrement` is their sum. Other members are left out.
    /// - `summaryArgumentCount` and `userInfo.digest.count` are the number of notifications.
    ///
    /// What is larger than the limit loses its localizations, then the ends of its longest texts, whole characters at a
    /// time, and in the end all texts and names.
    ///
    /// - Parameters:
    ///   - members: the contents in the order of arrival, at least two; what cannot be read counts as empty.
    ///   - limit: bytes of the result, at least 256.
    public func content(of members: [ArraySlice<UInt8>], limit: Int) -> [UInt8] {
        let members = members.map { member in
            NotificationContent(valid: (try? JSONValue.parse(member)) ?? .null)
        }
        var digest = NotificationContent(
            sound: Self.strongestSound(members),
            categoryIdentifier: Self.common(members, \.categoryIdentifier),
            threadIdentifier: Self.common(members, \.threadIdentifier),
            interruptionLevel: Self.strongestLevel(members),
            summaryArgumentCount: Int64(members.count),
            userInfo: .object([.init("digest", .object([.init("count", .number(String(members.count)))]))])
        )
        setBadge(of: members, &digest)
        setTexts(of: members, limit, &digest)
        digest.cut(to: limit)
        return digest.json
    }

    private func setBadge(of members: [NotificationContent], _ digest: inout NotificationContent) {
        func sum(_ one: Int64, _ other: Int64, atMost limit: Int64) -> Int64 {
            let (sum, isOverflow) = one.addingReportingOverflow(other)
            return isOverflow ? limit : min(sum, limit)
        }
        for member in members {
            if let badge = member.badge {
                (digest.badge, digest.badgeIncrement) = (badge, nil)
            } else if let increment = member.badgeIncrement {
                if let badge = digest.badge {
                    digest.badge = sum(badge, increment, atMost: ModelLimits.badge)
                } else {
                    let earlier = digest.badgeIncrement ?? 0
                    digest.badgeIncrement = sum(earlier, increment, atMost: ModelLimits.badgeIncrement)
                }
            }
        }
    }

    private func setTexts(of members: [NotificationContent], _ limit: Int, _ digest: inout NotificationContent) {
        let values = DigestValues(members: members, digest: digest, limit: limit)
        if let title {
            digest.title = values.text(of: title)
        } else {
            digest.title = members.last?.title
            digest.titleLocalization = members.last?.titleLocalization
        }
        if let body {
            digest.body = values.text(of: body)
        } else {
            digest.body = members.last?.body
            digest.bodyLocalization = members.last?.bodyLocalization
        }
        if title == nil, body == nil, members.count > 1 { digest.subtitle = "+\(members.count - 1)" }
    }

    /// The value that all have; nil without one.
    private static func common(
        _ members: [NotificationContent],
        _ path: KeyPath<NotificationContent, String?>
    ) -> String? {
        guard let value = members.first?[keyPath: path] else { return nil }
        // Swift's strings are equal if they are equivalent in Unicode.
        return members.allSatisfy { $0[keyPath: path]?.hasSameUTF8(as: value) == true } ? value : nil
    }

    /// The loudest critical sound, or else the last sound.
    private static func strongestSound(_ members: [NotificationContent]) -> NotificationSound? {
        func strength(_ sound: NotificationSound) -> Double {
            sound.critical == true ? 1 + (sound.volume ?? 1) : 0
        }
        return members.compactMap(\.sound).reversed().max { strength($0) < strength($1) }
    }

    /// The level of the notification that may interrupt most; nil is `active`.
    private static func strongestLevel(_ members: [NotificationContent]) -> InterruptionLevel? {
        let ranks: [InterruptionLevel] = [.passive, .active, .timeSensitive, .critical]
        func rank(_ level: InterruptionLevel?) -> Int { ranks.firstIndex(of: level ?? .active) ?? 1 }
        return members.map(\.interruptionLevel).max { rank($0) < rank($1) } ?? nil
    }
}

/// The values of a digest's templates.
private struct DigestValues {
    let members: [NotificationContent]
    /// Its thread and category.
    let digest: NotificationContent
    let limit: Int

    /// A text from a template. One that cannot be read is its own text.
    func text(of source: String) -> String {
        guard let template = try? Template<DigestVariable>(source) else { return source }
        var text = ""
        // More than the limit would be cut.
        for piece in template.pieces where text.utf8.count < limit {
            switch piece {
            case .bytes(let range): text += String(decoding: template.bytes[range], as: UTF8.self)
            case .text(let variable), .escaped(let variable), .json(let variable): text += value(variable)
            }
        }
        return text
    }

    private func value(_ variable: DigestVariable) -> String {
        switch variable {
        case .count: String(members.count)
        case .thread: digest.threadIdentifier ?? ""
        case .category: digest.categoryIdentifier ?? ""
        case .titles: titles
        case .firstTitle: members.first?.title ?? ""
        case .lastTitle: members.last?.title ?? ""
        case .lastBody: members.last?.body ?? ""
        }
    }

    private var titles: String {
        var known: Set<String> = []
        var text = ""
        for title in members.compactMap(\.title) where !title.isEmpty && known.insert(title).inserted {
            // More would be cut.
            guard text.utf8.count < limit else { break }
            text += (text.isEmpty ? "" : ", ") + title
        }
        return text
    }
}

extension NotificationContent {
    /// Shortens the content until its JSON has at most so many bytes.
    fileprivate mutating func cut(to limit: Int) {
        guard json.count > limit else { return }
        (titleLocalization, bodyLocalization) = (nil, nil)
        while true {
            let excess = json.count - limit
            guard excess > 0 else { return }
            let (titleBytes, bodyBytes) = (title?.utf8.count ?? 0, body?.utf8.count ?? 0)
            guard titleBytes + bodyBytes > 0 else { break }
            if titleBytes > bodyBytes { title = title?.cut(by: excess) } else { body = body?.cut(by: excess) }
        }
        self = NotificationContent(
            badge: badge,
            badgeIncrement: badgeIncrement,
            interruptionLevel: interruptionLevel,
            summaryArgumentCount: summaryArgumentCount,
            userInfo: userInfo
        )
    }
}

extension String {
    /// The text without its last characters, which take at least so many bytes in JSON, and with an ellipsis in their place.
    fileprivate func cut(by bytes: Int) -> String {
        let ellipsis = "\u{2026}"
        var room = bytesInJSON - bytes - ellipsis.bytesInJSON
        let kept = prefix { character in
            room -= String(character).bytesInJSON
            return room >= 0
        }
        return kept.isEmpty ? "" : kept + ellipsis
    }

    /// Without the quotes.
    private var bytesInJSON: Int {
        var json: [UInt8] = []
        writeJSON(to: &json)
        return json.count - 2
    }
}
