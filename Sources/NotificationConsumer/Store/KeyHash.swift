/// What an entry is found by on disk and in a batch: short, ordered by recipient, and the same in every run.
///
/// Short because it stands in two indexes, whose pages are most of what an insert costs. So two keys may well have the same
/// hash: whoever looks one up compares the key too.
struct KeyHash: Hashable, Comparable {
    /// Of `application/recipient/`; 32 bits.
    var recipient: Int64
    /// Of the whole key; 31 bits, never negative: the order among what is due at one instant, see `DueCursor.tiebreak`.
    var key: Int64

    init(of key: [UInt8]) {
        self = key.withUnsafeBytes { bytes in
            KeyHash(
                recipient: Self.recipient(of: UnsafeRawBufferPointer(rebasing: bytes[..<Self.prefixLength(of: bytes)])),
                key: Int64(StableHash.hash(bytes) >> 33)
            )
        }
    }

    /// As they were read.
    init(recipient: Int64, key: Int64) {
        (self.recipient, self.key) = (recipient, key)
    }

    /// Of all keys that begin with `application/recipient/`.
    static func recipient(ofPrefix prefix: [UInt8]) -> Int64 {
        prefix.withUnsafeBytes { recipient(of: $0) }
    }

    private static func recipient(of prefix: UnsafeRawBufferPointer) -> Int64 {
        Int64(Int32(truncatingIfNeeded: StableHash.hash(prefix)))
    }

    /// To behind the second slash; everything where there is none.
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

/// A hash for what is kept on disk: fast on the few dozen bytes of a key and on a value of a kilobyte, no protection against
/// who wants collisions. Built as wyhash is, from products of 64 bits.
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

    /// Both halves of the product, as one.
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// At most 16 bytes; those from 8 on may be counted twice, the length tells them apart.
    private static func tail(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        if bytes.count >= 8 { return (word(bytes, 0), word(bytes, bytes.count - 8)) }
        var first: UInt64 = 0
        for index in bytes.indices { first |= UInt64(bytes[index]) << UInt64(8 * index) }
        return (first, 0)
    }
}
