import COpenSSL
import Foundation

/// The one PEM block of a private key's file (RFC 7468).
enum PrivateKeyText {
    private static let label = "PRIVATE KEY"

    /// The key, which the caller frees.
    static func key(of text: String, _ path: String) throws(SigningKeyError) -> OpaquePointer {
        let der = try der(of: text, path)
        let found = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let information = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(information) }
            return EVP_PKCS82PKEY(information)
        }
        // Nobody else on this thread shall find what failed here.
        ERR_clear_error()
        guard let found else { throw SigningKeyError("\(path) is damaged: it has no key in PKCS #8") }
        return found
    }

    private static func der(of text: String, _ path: String) throws(SigningKeyError) -> [UInt8] {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let labels = lines.compactMap { line -> Substring? in
            guard line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") else { return nil }
            return line.dropFirst(11).dropLast(5)
        }
        guard let found = labels.first else {
            throw SigningKeyError("\(path) is no key in PEM: it must have a line -----BEGIN \(label)-----")
        }
        guard labels.count == 1 else { throw SigningKeyError("\(path) has \(labels.count) parts in PEM; one is a key") }
        guard found == label else { throw SigningKeyError("\(path) \(refusal(of: found))") }
        let inner = lines.drop { $0 != "-----BEGIN \(label)-----" }.dropFirst()
        guard let end = inner.firstIndex(of: "-----END \(label)-----") else {
            throw SigningKeyError("\(path) is damaged: it has no line -----END \(label)-----")
        }
        guard let der = Data(base64Encoded: inner[..<end].joined()), !der.isEmpty else {
            throw SigningKeyError("\(path) is damaged: what is between its first and last line is not Base64")
        }
        return Array(der)
    }

    /// - Parameter label: Not quoted unless it is known, since it is read from a file of secrets.
    private static func refusal(of label: Substring) -> String {
        switch label {
        case "ENCRYPTED PRIVATE KEY": "is encrypted: write it without a password with `openssl pkcs8`"
        case "EC PRIVATE KEY", "EC PARAMETERS", "RSA PRIVATE KEY":
            "is not in PKCS #8: convert it with `openssl pkcs8 -topk8 -nocrypt`"
        case "PUBLIC KEY": "has the public key: the private one is needed"
        case "CERTIFICATE": "has a certificate: the private key is needed"
        default: "has something else in PEM: a key begins with -----BEGIN \(Self.label)-----"
        }
    }
}
