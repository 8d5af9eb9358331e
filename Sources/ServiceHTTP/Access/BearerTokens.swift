import COpenSSL
import HTTPTypes

/// What the owner of a token may do.
package enum TokenRole: String, CaseIterable, Sendable {
    case publish, query, admin
}

/// The roles of one token.
struct TokenRoles: Sendable, Equatable {
    fileprivate var bits: UInt8 = 0

    init(_ roles: TokenRole...) {
        for role in roles { insert(role) }
    }

    fileprivate init(bits: UInt8) {
        self.bits = bits
    }

    mutating func insert(_ role: TokenRole) { bits |= Self.bit(role) }

    /// `admin` includes every role.
    func allow(_ role: TokenRole) -> Bool { bits & (Self.bit(role) | Self.bit(.admin)) != 0 }

    private static func bit(_ role: TokenRole) -> UInt8 {
        switch role {
        case .publish: 1
        case .query: 2
        case .admin: 4
        }
    }
}

/// The tokens of an HTTP interface, as SHA-256 digests.
///
/// The digest of a presented token is compared completely with every digest, so that the duration reveals neither how
/// close it was nor which one matched.
package struct BearerTokens: Sendable {
    /// A longer token is rejected without computing its digest.
    static let longestToken = 1_024
    static let digestBytes = Int(SHA256_DIGEST_LENGTH)

    struct Entry: Sendable {
        var digest: [UInt8]
        var roles: TokenRoles
    }

    /// All digests, concatenated.
    private let digests: [UInt8]
    private let roles: [UInt8]

    init(_ entries: [Entry]) {
        digests = entries.flatMap(\.digest)
        roles = entries.map(\.roles.bits)
    }

    /// Determines the roles of a call.
    ///
    /// - Throws: ``Problem`` 401 for a missing or wrong token.
    func roles(of headers: HTTPFields) throws(Problem) -> TokenRoles {
        guard let field = headers[.authorization] else { throw .unauthenticated(isWrong: false) }
        var found: TokenRoles?
        var copy = field
        copy.withUTF8 { text in
            guard let token = Self.token(in: UnsafeRawBufferPointer(text)) else { return }
            found = roles(of: token)
        }
        guard let found else { throw .unauthenticated(isWrong: true) }
        return found
    }

    private func roles(of token: UnsafeRawBufferPointer) -> TokenRoles? {
        guard token.count <= Self.longestToken else { return nil }
        var bits: UInt8 = 0
        Self.withDigest(of: token) { digest in
            digests.withUnsafeBytes { all in
                for (index, own) in self.roles.enumerated() {
                    let known = UnsafeRawBufferPointer(rebasing: all[(index * Self.digestBytes)...])
                    let difference = CRYPTO_memcmp(digest.baseAddress, known.baseAddress, Self.digestBytes)
                    bits |= difference == 0 ? own : 0
                }
            }
        }
        return bits == 0 ? nil : TokenRoles(bits: bits)
    }

    /// The text after `Bearer` and blanks; nil for another scheme or no text.
    private static func token(in field: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let scheme: StaticString = "bearer "
        guard field.count > scheme.utf8CodeUnitCount else { return nil }
        for index in 0..<scheme.utf8CodeUnitCount {
            // The scheme is case-insensitive; setting the bit leaves a blank unchanged.
            guard field[index] | 0x20 == scheme.utf8Start[index] else { return nil }
        }
        let rest = field[scheme.utf8CodeUnitCount...].drop { $0 == 0x20 }
        return rest.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: rest)
    }

    /// The SHA-256 of bytes.
    static func withDigest(of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: digestBytes, alignment: 8) { digest in
            SHA256(
                bytes.bindMemory(to: UInt8.self).baseAddress,
                bytes.count,
                digest.bindMemory(to: UInt8.self).baseAddress
            )
            body(UnsafeRawBufferPointer(digest))
        }
    }
}
