import NIOCore
import NIOHTTP1

/// What an answer says about its reuse (RFC 9111), as far as a cache without heuristics needs it.
struct HTTPFreshness: Hashable, Sendable {
    /// The validators of RFC 9110, section 8.8, as the server sent them.
    struct Validators: Hashable, Sendable {
        var etag: String?
        var lastModified: String?

        var isEmpty: Bool { etag == nil && lastModified == nil }

        /// The fields of a conditional request.
        var fields: [(String, String)] {
            var fields: [(String, String)] = []
            if let etag { fields.append(("if-none-match", etag)) }
            if let lastModified { fields.append(("if-modified-since", lastModified)) }
            return fields
        }
    }

    /// A server may say a year; a medium that was replaced should not stay for so long.
    static let longestLifetime: Int64 = 24 * 60 * 60
    private static let longestValidator = 256

    /// Whether the answer may be reused at all, after a revalidation if its lifetime is over.
    var isStorable: Bool
    /// For how long without asking the server again, in seconds, 0 or more.
    var lifetime: Int64
    var validators: Validators

    init(_ headers: HTTPHeaders) {
        var directives: [Substring: Substring] = [:]
        for directive in headers[canonicalForm: "cache-control"] {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard let name = parts.first else { continue }
            directives[Substring(name.lowercased())] = parts.count == 2 ? parts[1] : ""
        }
        // A cache of all recipients: what is for one user is not reused.
        isStorable =
            directives["no-store"] == nil && directives["private"] == nil
            && !headers[canonicalForm: "vary"].contains("*")
        lifetime = directives["no-cache"] == nil ? Self.lifetime(directives, headers) : 0
        validators = Validators(
            etag: Self.validator("etag", headers),
            lastModified: Self.validator("last-modified", headers)
        )
    }

    private static func lifetime(_ directives: [Substring: Substring], _ headers: HTTPHeaders) -> Int64 {
        let total: Int64
        if let seconds = directives["s-maxage"] ?? directives["max-age"] {
            total = self.seconds(seconds) ?? 0
        } else if let expires = headers.first(name: "expires").flatMap({ HTTPTime.seconds($0) }),
            let date = headers.first(name: "date").flatMap({ HTTPTime.seconds($0) })
        {
            total = expires - date
        } else {
            return 0
        }
        let age = headers.first(name: "age").flatMap { self.seconds($0[...]) } ?? 0
        return max(0, min(total, longestLifetime) - age)
    }

    /// Delta seconds; a number that is too large counts as the longest lifetime (RFC 9111, section 1.2.2).
    private static func seconds(_ text: Substring) -> Int64? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "\"") }
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(String(decoding: digits, as: UTF8.self)) ?? longestLifetime, longestLifetime)
    }

    private static func validator(_ name: String, _ headers: HTTPHeaders) -> String? {
        guard let value = headers.first(name: name), (1...longestValidator).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return value
    }
}

/// The time format of HTTP (RFC 9110, section 5.6.7).
enum HTTPTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter text: `Sun, 06 Nov 1994 08:49:37 GMT`; the obsolete forms, which current servers do not send,
    ///   give nil.
    /// - Returns: Seconds since 1970.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", text.utf8.count == 29,
            let day = number(parts[1], 1...31), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 1970...9999)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], 0...23), let minute = number(time[1], 0...59),
            let second = number(time[2], 0...60)
        else { return nil }
        return ((days(year, Int64(month) + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number)
        else { return nil }
        return number
    }

    /// Days since 1970-01-01 in the Gregorian calendar, with years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
