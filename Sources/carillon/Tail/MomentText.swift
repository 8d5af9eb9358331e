import NotificationModel

/// Instants for people, in UTC: of today the time only.
struct MomentText {
    /// `2026-11-21`
    private let today: Substring

    init(now: Timestamp) { today = now.rfc3339.prefix(10) }

    func text(_ instant: Timestamp) -> String { text(instant.rfc3339) }

    /// - Parameter rfc3339: As services write it; other text is unchanged.
    func text(_ rfc3339: String) -> String {
        guard rfc3339.utf8.count == 24, rfc3339.hasSuffix("Z") else { return rfc3339 }
        let time = rfc3339.dropFirst(11).dropLast()
        return rfc3339.hasPrefix(today) ? String(time) : "\(rfc3339.prefix(10)) \(time)"
    }
}
