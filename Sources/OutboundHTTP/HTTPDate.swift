package import NotificationModel

/// Dates of HTTP header fields.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads the three forms of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Nil for anything else.
    ///
    /// - Parameter now: a year of two digits is at most 50 years after it.
    package static func parse(_ text: String, at now: Timestamp) -> Timestamp? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }
        let (day, month, year, time): (Substring, Substring, Substring, Substring)
        switch parts.count {
        case 6 where parts[5] == "GMT": (day, month, year, time) = (parts[1], parts[2], parts[3], parts[4])
        case 5: (day, month, year, time) = (parts[2], parts[1], parts[4], parts[3])
        default: return nil
        }
        guard (1...2).contains(day.utf8.count), let month = months.firstIndex(of: String(month)),
            let year = fullYear(year, at: now)
        else { return nil }
        let date = "\(year)-\(padded("\(month + 1)"))-\(padded(day))"
        return Timestamp(rfc3339: "\(date)T\(time)Z")
    }

    private static func fullYear(_ text: Substring, at now: Timestamp) -> Substring? {
        guard text.utf8.count == 2 else { return text }
        let current = now.rfc3339.prefix(4)
        guard let year = Int(text), year >= 0, let now = Int(current) else { return nil }
        let full = now - now % 100 + year
        return "\(full > now + 50 ? full - 100 : full)"
    }

    private static func padded(_ digits: some StringProtocol) -> String {
        digits.utf8.count == 1 ? "0\(digits)" : "\(digits)"
    }
}
