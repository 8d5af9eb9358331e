import Foundation
import NotificationModel
import PushSimulation
import ServiceHTTP

/// The token service: exchanges assertions for access tokens (RFC 7523), in the words of Google's.
struct TokenService: Sendable {
    /// How much the clock of a client may be ahead, in seconds.
    static let tolerance: Int64 = 600
    static let longestLifetime: Int64 = 3_600
    /// Tokens at most: further ones push out all that have ended, then are refused.
    static let tokenCapacity = 100_000
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The audience that Google's own clients name, whatever `token_uri` says.
    static let googleURL = "https://oauth2.googleapis.com/token"
    static let scopes = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]

    private struct Token {
        var project: String
        var email: String
        /// In milliseconds since 1970.
        var expiration: Int64
    }

    /// By e-mail address.
    private(set) var accounts: [String: SimulatedAccount] = [:]
    private var tokens: [String: Token] = [:]
    /// In seconds.
    var lifetime: Int64 = 3_599
    /// `aud` of assertions.
    var url = ""

    /// A refused assertion: `error` and `error_description`.
    struct Refusal: Error {
        var error: String
        var description: String
    }

    mutating func add(_ account: SimulatedAccount) { accounts[account.email] = account }

    /// - Returns: False when there is none of the project.
    mutating func setDisabled(_ isDisabled: Bool, project: String) -> Bool {
        guard let email = accounts.first(where: { $0.value.project == project })?.key else { return false }
        accounts[email]?.isDisabled = isDisabled
        if isDisabled { tokens = tokens.filter { $0.value.email != email } }
        return true
    }

    /// Ends all access tokens.
    mutating func endTokens() { tokens = [:] }

    /// The project that an access token may send to; nil for a token that is unknown or has expired.
    func project(of token: Substring, at now: Timestamp) -> String? {
        guard let known = tokens[String(token)], now.rawValue < known.expiration else { return nil }
        return known.project
    }

    /// - Parameters:
    ///   - form: `application/x-www-form-urlencoded`.
    ///   - generator: makes the token.
    /// - Returns: the access token.
    mutating func exchange(
        _ form: [UInt8],
        at now: Timestamp,
        using generator: inout SplitMix64
    ) throws(Refusal) -> String {
        let fields = Self.fields(of: form)
        guard fields["grant_type"] == Self.grantType else {
            throw Refusal(error: "unsupported_grant_type", description: "Invalid grant_type: ")
        }
        let account = try account(of: fields["assertion"] ?? "", at: now)
        if tokens.count >= Self.tokenCapacity { tokens = tokens.filter { $0.value.expiration > now.rawValue } }
        guard tokens.count < Self.tokenCapacity else {
            throw Refusal(error: "temporarily_unavailable", description: "Too many access tokens.")
        }
        let text = "ya29.simulated-\(String(generator.next(), radix: 16))\(String(generator.next(), radix: 16))"
        tokens[text] = Token(
            project: account.project,
            email: account.email,
            expiration: now.rawValue + lifetime * 1_000
        )
        return text
    }

    private func account(of assertion: String, at now: Timestamp) throws(Refusal) -> SimulatedAccount {
        func invalid(_ description: String) -> Refusal { Refusal(error: "invalid_grant", description: description) }
        let parts = assertion.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Base64URL.decode(Substring(parts[2]).utf8), head["alg"]?.stringValue == "RS256"
        else { throw invalid("Invalid JWT: the assertion is no JSON Web Token with RS256.") }
        guard let account = claims["iss"]?.stringValue.flatMap({ accounts[$0] }) else {
            throw invalid("Invalid grant: account not found")
        }
        guard !account.isDisabled else { throw invalid("Invalid grant: account not found") }
        let signed = parts[0].count + 1 + parts[1].count
        guard account.key.verifies(signature, of: Array(assertion.utf8.prefix(signed))) else {
            throw invalid("Invalid JWT Signature.")
        }
        guard let audience = claims["aud"]?.stringValue, [url, Self.googleURL].contains(audience) else {
            throw invalid("Invalid JWT: Failed audience check.")
        }
        let (seconds, issued) = (now.rawValue / 1_000, claims["iat"]?.integerValue ?? .max)
        let expiration = claims["exp"]?.integerValue ?? .min
        guard issued <= seconds + Self.tolerance, expiration > seconds - Self.tolerance,
            expiration.subtractingReportingOverflow(issued).partialValue <= Self.longestLifetime
        else {
            throw invalid(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim."
            )
        }
        let scopes = claims["scope"]?.stringValue?.split(separator: " ").map(String.init) ?? []
        guard scopes.contains(where: Self.scopes.contains) else {
            throw Refusal(error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")
        }
        return account
    }

    private static func json(_ part: Substring.UTF8View) -> JSONValue? {
        Base64URL.decode(part).flatMap { try? JSONValue.parse($0) }
    }

    private static func fields(of form: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in String(decoding: form, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = String(parts[1]).replacing("+", with: " ")
            fields[String(parts[0])] = value.removingPercentEncoding ?? value
        }
        return fields
    }
}
