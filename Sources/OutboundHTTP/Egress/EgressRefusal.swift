/// Why Carillon does not connect to an address that came from outside.
///
/// May be logged: it names at most a host that is well-formed, a port and addresses, never user info, path or query.
package struct EgressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason codes of deliveries and logs.
    package enum Code: String, CaseIterable, Sendable {
        /// An address is not public or is denied, or is in a notation that is not canonical.
        case addressRefused = "address-refused"
        /// The scheme is not `https`, and no exception covers the origin.
        case schemeRefused = "scheme-refused"
        /// The port is not 443, and no exception covers the origin.
        case portRefused = "port-refused"
        /// The host name is for special use, denied, or not among the allowed ones.
        case hostRefused = "host-refused"
        /// The text is not a URL by RFC 3986, or has parts that are never allowed.
        case urlMalformed = "url-malformed"
    }

    package let code: Code
    /// What is wrong and what to do, a sentence without a full stop.
    package let detail: String

    init(_ code: Code, _ detail: String) {
        (self.code, self.detail) = (code, detail)
    }

    static func malformed(_ detail: String) -> EgressRefusal { EgressRefusal(.urlMalformed, detail) }

    /// `url-malformed: …`.
    package var description: String { "\(code.rawValue): \(detail)" }
}
