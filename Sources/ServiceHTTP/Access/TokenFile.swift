import Foundation
import NotificationModel

/// The file of `http.tokens.file`: one token per line, after its roles and the applications that it is good for.
///
///     # roles            applications  token, or its SHA-256
///     publish,signal     shop,bank     3xAmpLe-t0ken_0f.16~or+more/characters==
///     admin              *             sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
///     publish                          an0ther-t0ken-f0r-the-default-application
///
/// Roles are `publish`, `signal`, `query` and `admin`, which includes the others. Applications are percent-encoded as in
/// keys of records and separated by commas; `*` is all of them; a line without any is for the default application. Empty
/// lines and lines that begin with `#` are ignored. A token has 16 to 1,024 letters, digits and `-._~+/`, and may end with
/// `=` (the characters of RFC 6750). Its digest is that of its characters alone, as `printf %s "$token" | sha256sum`
/// prints it. Messages name lines and never show a token.
enum TokenFile {
    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20
    /// Each call is compared with all of them.
    static let maximumTokens = 1_000
    /// A shorter one can be guessed.
    static let shortestToken = 16
    /// Applications of one token.
    static let maximumApplications = 32

    static func load(path: String, defaultApplication: String) throws(ListenerSettingsError) -> BearerTokens {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a token file")
        } catch {
            throw ListenerSettingsError(.tokensFile, "\(path) \(error.text)")
        }
        return try parse(text, file: path, defaultApplication: defaultApplication)
    }

    static func parse(
        _ text: String,
        file: String,
        defaultApplication: String = "default"
    ) throws(ListenerSettingsError) -> BearerTokens {
        var entries: [BearerTokens.Entry] = []
        var lineOfDigest: [[UInt8]: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            func failure(_ why: String) -> ListenerSettingsError {
                ListenerSettingsError(.tokensFile, "\(file):\(index + 1): \(why)")
            }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 || words.count == 3 else {
                throw failure(
                    "must be roles, applications and a token: `publish,query shop TOKEN`; found \(words.count) words"
                )
            }
            guard let roles = roles(first) else {
                let known = TokenRole.allCases.map(\.rawValue).joined(separator: ", ")
                throw failure("the first word must be roles separated by commas; known roles: \(known)")
            }
            let applications: ApplicationSet
            do throws(ModelError) {
                applications =
                    words.count == 3
                    ? try applicationSet(words[1]) : ApplicationSet([defaultApplication])
            } catch {
                throw failure(
                    "the second of three words must be applications separated by commas, or * for all: \(error.detail)"
                )
            }
            let digest: [UInt8]
            switch parse(words[words.count - 1]) {
            case .success(let bytes): digest = bytes
            case .failure(let error): throw failure(error.message)
            }
            if let earlier = lineOfDigest.updateValue(index + 1, forKey: digest) {
                throw failure("repeats the token of line \(earlier); list all its roles on one line")
            }
            entries.append(.init(digest: digest, roles: roles, applications: applications))
            guard entries.count <= maximumTokens else { throw failure("exceeds the limit of \(maximumTokens) tokens") }
        }
        guard !entries.isEmpty else {
            throw ListenerSettingsError(.tokensFile, "\(file) has no token; each line needs roles and a token")
        }
        return BearerTokens(entries)
    }

    private static func applicationSet(_ word: Substring) throws(ModelError) -> ApplicationSet {
        guard word.utf8.count(where: { $0 == UInt8(ascii: ",") }) < maximumApplications else {
            throw ModelError(.tooLarge, "at most \(maximumApplications) are allowed; use several tokens, or *")
        }
        return try ApplicationSet(text: word)
    }

    private static func roles(_ word: Substring) -> TokenRoles? {
        var roles = TokenRoles()
        for name in word.split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = TokenRole(rawValue: String(name)) else { return nil }
            roles.insert(role)
        }
        return roles
    }

    private struct Mistake: Error {
        var message: String
    }

    /// The digest of a token, or the given digest.
    private static func parse(_ word: Substring) -> Result<[UInt8], Mistake> {
        if word.hasPrefix("sha256:") {
            let digits = word.dropFirst("sha256:".count)
            guard let digest = bytes(hexadecimal: digits), digest.count == BearerTokens.digestBytes else {
                return .failure(.init(message: "after sha256: there must be 64 hexadecimal digits"))
            }
            return .success(digest)
        }
        let characters = word.utf8
        guard (shortestToken...BearerTokens.longestToken).contains(characters.count) else {
            let range = "\(shortestToken) to \(BearerTokens.longestToken)"
            return .failure(.init(message: "a token must have \(range) characters, this one has \(characters.count)"))
        }
        guard characters.reversed().drop(while: { $0 == UInt8(ascii: "=") }).allSatisfy(isTokenCharacter) else {
            return .failure(.init(message: "a token may contain only letters, digits and -._~+/, and = at its end"))
        }
        var digest: [UInt8] = []
        Array(characters).withUnsafeBytes { BearerTokens.withDigest(of: $0) { digest = Array($0) } }
        return .success(digest)
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(byte)
        }
    }

    private static func bytes(hexadecimal digits: Substring) -> [UInt8]? {
        let values = digits.utf8.map { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard values.count.isMultiple(of: 2), !values.contains(nil) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { (values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0) }
    }
}
