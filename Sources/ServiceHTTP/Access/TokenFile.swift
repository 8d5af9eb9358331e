import Foundation

/// The file of `http.tokens.file`: one token per line, after its roles.
///
///     # roles            token, or its SHA-256
///     publish            3xAmpLe-t0ken_0f.16~or+more/characters==
///     publish,query      sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
///
/// Roles are `publish`, `query` and `admin`, which includes the others. Empty lines and lines that begin with `#` are
/// ignored. A token has 16 to 1,024 letters, digits and `-._~+/`, and may end with `=` (the characters of RFC 6750).
/// Its digest is that of its characters alone, as `printf %s "$token" | sha256sum` prints it. Messages name lines and
/// never show a token.
enum TokenFile {
    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20
    /// Each call is compared with all of them.
    static let maximumTokens = 1_000
    /// A shorter one can be guessed.
    static let shortestToken = 16

    static func load(path: String) throws(ListenerSettingsError) -> BearerTokens {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a token file")
        } catch {
            throw ListenerSettingsError(.tokensFile, "\(path) \(error.text)")
        }
        return try parse(text, file: path)
    }

    static func parse(_ text: String, file: String) throws(ListenerSettingsError) -> BearerTokens {
        var entries: [BearerTokens.Entry] = []
        var lineOfDigest: [[UInt8]: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            func failure(_ why: String) -> ListenerSettingsError {
                ListenerSettingsError(.tokensFile, "\(file):\(index + 1): \(why)")
            }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else {
                throw failure("must be roles and a token: `publish,query TOKEN`; found \(words.count) words")
            }
            guard let roles = roles(first) else {
                let known = TokenRole.allCases.map(\.rawValue).joined(separator: ", ")
                throw failure("the first word must be roles separated by commas; known roles: \(known)")
            }
            let digest: [UInt8]
            switch parse(words[1]) {
            case .success(let bytes): digest = bytes
            case .failure(let error): throw failure(error.message)
            }
            if let earlier = lineOfDigest.updateValue(index + 1, forKey: digest) {
                throw failure("repeats the token of line \(earlier); list all its roles on one line")
            }
            entries.append(.init(digest: digest, roles: roles))
            guard entries.count <= maximumTokens else { throw failure("exceeds the limit of \(maximumTokens) tokens") }
        }
        guard !entries.isEmpty else {
            throw ListenerSettingsError(.tokensFile, "\(file) has no token; each line needs roles and a token")
        }
        return BearerTokens(entries)
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
