import COpenSSL
import NotificationModel

/// What the owner of a token may do.
package enum TokenRole: String, CaseIterable, Sendable {
    /// Events, notifications and their removals, categories.
    case publish
    /// Devices, and what devices and gateways tell: responses, receipts, reports, locations.
    case signal
    /// What recipients have.
    case query
    /// Everything.
    case admin
}

/// The roles of one token.
struct TokenRoles: Sendable, Equatable {
    private var bits: UInt8 = 0

    init(_ roles: TokenRole...) {
        for role in roles { insert(role) }
    }

    mutating func insert(_ role: TokenRole) { bits |= Self.bit(role) }

    /// `admin` includes every role.
    func allow(_ role: TokenRole) -> Bool { bits & (Self.bit(role) | Self.bit(.admin)) != 0 }

    private static func bit(_ role: TokenRole) -> UInt8 {
        switch role {
        case .publish: 1
        case .query: 2
        case .admin: 4
        case .signal: 8
        }
    }
}

/// The tokens of an HTTP interface, as SHA-256 digests.
///
/// The digest of a presented token is compared completely with every digest, so that the duration reveals neither how
/// close it was nor which one matched.
struct BearerTokens: Sendable {
    /// A longer token is rejected without computing its digest.
    static let longestToken = 1_024
    static let digestBytes = Int(SHA256_DIGEST_LENGTH)

    struct Entry: Sendable {
        var digest: [UInt8]
        var roles: TokenRoles
        var applications: ApplicationSet
    }

    /// All digests, concatenated.
    private let digests: [UInt8]
    private let callers: [Caller]

    init(_ entries: [Entry]) {
        digests = entries.flatMap(\.digest)
        callers = entries.map { Caller($0.roles, $0.applications, identity: $0.digest.hexadecimal) }
    }

    /// - Returns: Nil for an unknown token.
    func caller(of token: Substring) -> Caller? {
        guard token.utf8.count <= Self.longestToken else { return nil }
        var found: Int?
        var copy = token
        copy.withUTF8 { text in
            Self.withDigest(of: UnsafeRawBufferPointer(text)) { digest in
                digests.withUnsafeBytes { all in
                    for index in callers.indices {
                        let known = UnsafeRawBufferPointer(rebasing: all[(index * Self.digestBytes)...])
                        let difference = CRYPTO_memcmp(digest.baseAddress, known.baseAddress, Self.digestBytes)
                        found = difference == 0 ? index : found
                    }
                }
            }
        }
        return found.map { callers[$0] }
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

extension [UInt8] {
    /// In lower case.
    fileprivate var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
