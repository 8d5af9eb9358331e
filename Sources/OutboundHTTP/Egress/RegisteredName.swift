/// The part of a host name that somebody registered, so that all names below it count as one: `shop.com` of
/// `img-7.cdn.shop.com`.
///
/// Without the list of public suffixes, by a rule that errs to both sides: two labels, or three when the last is a country's
/// and the one before is a usual second level, such as `co.uk`. An address is its own.
package enum RegisteredName {
    private static let secondLevels: Set<Substring> = [
        "ac", "co", "com", "edu", "go", "gob", "gov", "gv", "ltd", "me", "mil", "ne", "net", "nom", "or", "org", "plc",
        "sch",
    ]

    /// - Parameter host: As ``EgressURL/host``.
    package static func of(_ host: String) -> String {
        guard !host.utf8.contains(UInt8(ascii: ":")) else { return host }
        let labels = host.split(separator: ".")
        guard labels.count > 2, let last = labels.last, !last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return host
        }
        let isCountry = last.utf8.count == 2 && secondLevels.contains(labels[labels.count - 2])
        return labels.suffix(isCountry ? 3 : 2).joined(separator: ".")
    }
}
