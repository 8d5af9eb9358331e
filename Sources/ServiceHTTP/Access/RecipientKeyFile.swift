import Foundation
import NotificationModel

/// The file of `http.recipient-keys.file`: the keys with which back ends sign recipient tokens, one per line.
///
///     # application  key id     algorithm  key
///     shop           shop-2026  ES256      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…
///     bank           bank-1     HS256      3xAmpLe0SecretOf32BytesAtLeastInBase64=
///
/// The key of `ES256` is the public one, on the curve P-256: what is between the first and the last line of its PEM file,
/// on one line. That of `HS256` is the Base64 of 32 to 64 random bytes. Applications are percent-encoded as in keys of
/// records. Empty lines and lines that begin with `#` are ignored. Messages name lines and never show a key.
enum RecipientKeyFile {
    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20
    static let maximumKeys = 1_000
    static let secretBytes = 32...64
    /// Characters of a key's id.
    static let idBytes = 1...128

    static func load(path: String) throws(ListenerSettingsError) -> RecipientKeys {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a file of keys")
        } catch {
            throw ListenerSettingsError(.recipientKeysFile, "\(path) \(error.text)")
        }
        return try parse(text, file: path)
    }

    static func parse(_ text: String, file: String) throws(ListenerSettingsError) -> RecipientKeys {
        var keys: [RecipientKeys.Key] = []
        var lineOfID: [String: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            func failure(_ why: String) -> ListenerSettingsError {
                ListenerSettingsError(.recipientKeysFile, "\(file):\(index + 1): \(why)")
            }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 4 else {
                throw failure(
                    "must be an application, a key's id, its algorithm and the key: `shop shop-2026 ES256 KEY`; found "
                        + "\(words.count) words"
                )
            }
            let application: String
            do throws(ModelError) {
                application = try PercentEncoding.decodeOnce(String(first))
                _ = try CategoryKey.bytes(application: application)
            } catch {
                throw failure("the first word must be an application: \(error.detail)")
            }
            let id = String(words[1])
            guard idBytes.contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw failure("a key's id has 1 to \(idBytes.upperBound) characters of ASCII")
            }
            if let earlier = lineOfID.updateValue(index + 1, forKey: id) {
                throw failure("the key's id is that of line \(earlier): each key needs its own")
            }
            let verifier: RecipientKeys.Verifier
            switch verifierOf(words[2], words[3]) {
            case .success(let read): verifier = read
            case .failure(let mistake): throw failure(mistake.message)
            }
            keys.append(.init(id: id, application: application, verifier: verifier))
            guard keys.count <= maximumKeys else { throw failure("exceeds the limit of \(maximumKeys) keys") }
        }
        guard !keys.isEmpty else {
            throw ListenerSettingsError(
                .recipientKeysFile,
                "\(file) has no key; each line needs an application, a key's id, an algorithm and a key"
            )
        }
        return RecipientKeys(keys)
    }

    private struct Mistake: Error {
        var message: String
    }

    private static func verifierOf(
        _ algorithm: Substring,
        _ word: Substring
    ) -> Result<RecipientKeys.Verifier, Mistake> {
        guard algorithm == "ES256" || algorithm == "HS256" else {
            return .failure(Mistake(message: "the third word must be the algorithm: ES256 or HS256"))
        }
        guard let bytes = Data(base64Encoded: String(word)).map(Array.init) else {
            return .failure(Mistake(message: "the key must be Base64 on one line"))
        }
        if algorithm == "ES256" {
            guard let key = ECPublicKey(der: bytes) else {
                return .failure(
                    Mistake(
                        message:
                            "the key of ES256 must be a public key on P-256: the lines between BEGIN PUBLIC KEY and END "
                            + "PUBLIC KEY of its PEM file, as one"
                    )
                )
            }
            return .success(.es256(key))
        }
        guard secretBytes.contains(bytes.count) else {
            let range = "\(secretBytes.lowerBound) to \(secretBytes.upperBound)"
            return .failure(Mistake(message: "a key of HS256 has \(range) bytes, this one \(bytes.count)"))
        }
        return .success(.hs256(bytes))
    }
}
