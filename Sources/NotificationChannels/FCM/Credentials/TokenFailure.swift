import NotificationModel

/// Why there is no access token.
enum TokenFailure: Error, Hashable, Sendable {
    /// The service refuses the account or its key: an operator must act. The text says what is wrong and what to do, and nothing
    /// of the key.
    case refused(String)
    /// The token service was not reached, or has failed; after the pause in milliseconds, if it gives one, it may go well.
    case unavailable(String, retryAfter: Int64?)

    var detail: String {
        switch self {
        case .refused(let detail), .unavailable(let detail, _): detail
        }
    }
}

/// The answer of the service that exchanges assertions for access tokens (RFC 6749, sections 5.1 and 5.2).
struct TokenAnswer {
    /// Of the answer's body more is not read.
    static let maximumBodyBytes = 16 * 1024
    /// By how much the clocks may differ before it is said to be the reason, in milliseconds: Google takes assertions that are
    /// up to about ten minutes ahead or late.
    static let clockTolerance: Int64 = 5 * 60_000

    let status: Int
    let body: [UInt8]
    /// The header `date`: the clock of the service.
    var date: Timestamp?
    /// The pause of `retry-after`, in milliseconds.
    var retryAfter: Int64?

    /// The token and how long it lives, in milliseconds.
    ///
    /// - Parameters:
    ///   - account: that asked, for what an error says.
    ///   - now: by the clock of this machine.
    func token(
        of account: ServiceAccount,
        at now: Timestamp
    ) throws(TokenFailure) -> (token: String, lifetime: Int64) {
        let value = try? JSONValue.parse(body, maximumDepth: 8)
        if (200..<300).contains(status) {
            guard let token = value?["access_token"]?.stringValue, Self.isToken(token) else {
                throw .unavailable("the token service answered \(status) without an access token", retryAfter: nil)
            }
            let seconds = value?["expires_in"]?.integerValue ?? ServiceAccount.lifetime
            return (token, max(1, min(seconds, 86_400)) * 1000)
        }
        let code = value?["error"]?.stringValue
        guard (400..<500).contains(status), status != 408, status != 429, let code else {
            throw .unavailable("the token service answered \(status)", retryAfter: retryAfter)
        }
        throw .refused(reason(code, value?["error_description"]?.stringValue ?? "", account, at: now))
    }

    /// What is wrong, and what to do.
    private func reason(_ code: String, _ description: String, _ account: ServiceAccount, at now: Timestamp) -> String {
        if let date, abs(date.rawValue - now.rawValue) > Self.clockTolerance {
            let seconds = (now.rawValue - date.rawValue) / 1000
            return """
                clock-skew: the clock of this machine is \(abs(seconds)) seconds \
                \(seconds > 0 ? "ahead of" : "behind") Google's: set it
                """
        }
        let text = description.lowercased()
        switch code {
        case "invalid_grant" where text.contains("signature"):
            return """
                wrong-key: the key \(Self.printable(account.keyID)) is not one of the service account, or was deleted or has \
                expired: make a new key file
                """
        case "invalid_grant" where text.contains("account not found"):
            return """
                unknown-account: the service account of the project \(account.project) does not exist any more: make a key \
                file of another one
                """
        case "invalid_grant" where text.contains("iat and exp"):
            return "clock-skew: Google finds the times of the assertion wrong: set the clock of this machine"
        default:
            return
                "\(Self.printable(code)): Google gives the service account of the project \(account.project) no access token"
        }
    }

    private static func printable(_ text: String) -> String {
        PrintableText.escaped(text.utf8.count <= 64 ? text : String(decoding: text.utf8.prefix(64), as: UTF8.self))
    }

    /// A header field must be able to have it.
    private static func isToken(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
