/// Identifies an entry on disk and in a batch: short, ordered by recipient, and equal in every run.
///
/// It is short because it is part of two indexes, whose pages are most of the cost of an insert. Two keys can have the
/// same hash, so a lookup also compares the key.
struct KeyHash: Hashable, Comparable {
    /// The hash of `application/recipient/`; 32 bits.
    var recipient: Int64
    /// The hash of the whole key; 31 bits, never negative. It orders entries due at the same instant, see
    /// `DueCursor.tiebreak`.
    var key: Int64

    init(of key: [UInt8]) {
        self = key.withUnsafeBytes { bytes in
            KeyHash(
                recipient: Self.recipient(of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.prefixLength(of: bytes)])),
                key: Int64(StableHash.hash(bytes) >> 33)
            )
        }
    }

    /// Creates a hash from stored values.
    init(recipient: Int64, key: Int64) {
        (self.recipient, self.key) = (recipient, key)
    }

    /// The recipient hash of all keys that begin with `application/recipient/`.
    static func recipient(ofPrefix prefix: [UInt8]) -> Int64 {
        prefix.withUnsafeBytes { recipient(of: $0) }
    }

    private static func recipient(of prefix: UnsafeRawBufferPointer) -> Int64 {
        Int64(Int32(truncatingIfNeeded: StableHash.hash(prefix)))
    }

    /// The length up to and including the second slash; the whole key when there is none.
    private static func prefixLength(of key: UnsafeRawBufferPointer) -> Int {
        var slashes = 0
        for index in key.indices where key[index] == UInt8(ascii: "/") {
            slashes += 1
            if slashes == 2 { return index + 1 }
        }
        return key.count
    }

    static func < (a: Self, b: Self) -> Bool { (a.recipient, a.key) < (b.recipient, b.key) }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A hash for data on disk: fast for keys of a few dozen bytes and for values of a kilobyte; no protection against
/// intentional collisions. Its structure follows wyhash, with 64-bit products.
enum StableHash {
    static let secrets: (UInt64, UInt64, UInt64) = (
        0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3
    )

    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var state = seed ^ fold(seed ^ secrets.0, secrets.1)
        var rest = bytes
        while rest.count > 16 {
            state = fold(word(rest, 0) ^ secrets.1, word(rest, 8) ^ state)
            rest = UnsafeRawBufferPointer(rebasing: rest[16...])
        }
        let last = tail(rest)
        return fold(secrets.1 ^ UInt64(bytes.count), fold(last.0 ^ secrets.2, last.1 ^ state))
    }

    /// Combines both halves of the product.
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// At most 16 bytes; bytes from the eighth on may count twice, and the length distinguishes them.
    private static func tail(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        if bytes.count >= 8 { return (word(bytes, 0), word(bytes, bytes.count - 8)) }
        var first: UInt64 = 0
        for index in bytes.indices { first |= UInt64(bytes[index]) << UInt64(8 * index) }
        return (first, 0)
    }
}
