package import NotificationModel

/// The header field `retry-after` (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// The longest pause that a push service may ask for, in milliseconds.
    package static let longest: Int64 = 24 * 3_600_000

    /// Its value, seconds or a date, in milliseconds; nil if it is neither.
    ///
    /// - Parameter longest: the most, in milliseconds.
    package static func milliseconds(_ text: String, at now: Timestamp, longest: Int64 = longest) -> Int64? {
        let digits = text.utf8
        if !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let seconds = Int64(text), seconds < longest / 1000 else { return longest }
            return seconds * 1000
        }
        guard let date = HTTPDate.parse(text, at: now) else { return nil }
        return max(0, min(longest, date.rawValue - now.rawValue))
    }
}
