import COpenSSL

/// The 16 bytes of a UUID as two big-endian halves.
public struct UUIDValue: Hashable, Sendable {
    /// Bytes 0 to 7, the first the most significant.
    public let high: UInt64
    /// Bytes 8 to 15, the first the most significant.
    public let low: UInt64

    /// A UUID from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the canonical form: 36 characters, lower-case hexadecimal, hyphens at 8, 13, 18 and 23. Nil otherwise.
    public init?(canonical bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 36, bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D, bytes[23] == 0x2D,
            let first = bytes.hexadecimal(at: 0), let second = bytes.hexadecimal(at: 9, and: 14),
            let third = bytes.hexadecimal(at: 19, and: 24), let fourth = bytes.hexadecimal(at: 28)
        else { return nil }
        self.init(
            high: UInt64(first) &<< 32 | UInt64(second),
            low: UInt64(third) &<< 32 | UInt64(fourth)
        )
    }

    /// Appends the 36 bytes of the canonical form.
    public func write(to out: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
            fill(buffer)
            out.append(contentsOf: buffer)
        }
    }

    /// Writes the canonical form into 36 bytes.
    @inline(__always)
    func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        let out = UnsafeMutableRawBufferPointer(buffer)
        let first = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: high &>> 32))
        let second = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: high))
        let third = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: low &>> 32))
        let fourth = Hexadecimal.digits(of: UInt32(truncatingIfNeeded: low))
        out.storeBytes(of: first.bigEndian, toByteOffset: 0, as: UInt64.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: second &>> 32).bigEndian, toByteOffset: 9, as: UInt32.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: second).bigEndian, toByteOffset: 14, as: UInt32.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: third &>> 32).bigEndian, toByteOffset: 19, as: UInt32.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: third).bigEndian, toByteOffset: 24, as: UInt32.self)
        out.storeBytes(of: fourth.bigEndian, toByteOffset: 28, as: UInt64.self)
        (out[8], out[13], out[18], out[23]) = (0x2D, 0x2D, 0x2D, 0x2D)
    }
}

extension UUIDValue: CustomStringConvertible {
    /// The canonical form, lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            fill(buffer)
            return 36
        }
    }
}

/// Name-based UUIDs of version 5 (RFC 9562 section 5.5): the same name gives the same id on every machine.
///
/// Names made of several pieces are joined unambiguously: each piece is preceded by its length in bytes as a
/// 4-byte big-endian number. So ("a", "bc") and ("ab", "c") differ whatever the pieces contain.
public enum UUIDv5 {
    /// Namespace of request ids, `bc6025f0-76da-5570-a931-6ae954d380a9`:
    /// UUIDv5 of the URL namespace and `urn:carillon:notification:request`.
    public static let requestNamespace = UUIDValue(high: 0xBC60_25F0_76DA_5570, low: 0xA931_6AE9_54D3_80A9)
    /// Namespace of event ids, `1d21b54f-c67f-5a67-b6f7-8bbc623df0f5`:
    /// UUIDv5 of the URL namespace and `urn:carillon:notification:event`.
    public static let eventNamespace = UUIDValue(high: 0x1D21_B54F_C67F_5A67, low: 0xB6F7_8BBC_623D_F0F5)

    /// The id of a name of raw bytes, as other libraries compute it (`uuid.uuid5` of Python).
    public static func make(namespace: UUIDValue, name: [UInt8]) -> UUIDValue {
        var hash = NameHash(namespace: namespace)
        name.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// The id of a name of several pieces, each preceded by its length (4 bytes, big-endian).
    public static func make(namespace: UUIDValue, pieces: [String]) -> UUIDValue {
        var hash = NameHash(namespace: namespace)
        for piece in pieces {
            hash.updatePiece(piece)
        }
        return hash.finish()
    }
}

/// SHA-1 over a namespace and a name, fed in parts without building the name.
package struct NameHash {
    private var context = SHA_CTX()

    package init(namespace: UUIDValue) {
        SHA1_Init(&context)
        update(bigEndian: namespace.high)
        update(bigEndian: namespace.low)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        SHA1_Update(&context, bytes.baseAddress, bytes.count)
    }

    package mutating func update(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { update($0) }
    }

    package mutating func updatePiece(_ bytes: UnsafeRawBufferPointer) {
        update(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        update(bytes)
    }

    package mutating func updatePiece(_ text: String) {
        var copy = text
        copy.withUTF8 { updatePiece(UnsafeRawBufferPointer($0)) }
    }

    /// Adds a UUID's canonical text as a piece, built on the stack.
    package mutating func updatePiece(canonical value: UUIDValue) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
            value.fill(buffer)
            updatePiece(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Adds a number in decimal as a piece; nil is an empty piece.
    package mutating func updatePiece(decimal value: Int64?) {
        guard let value else { return updatePiece(UnsafeRawBufferPointer(start: nil, count: 0)) }
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { buffer in
            var start = 20
            var rest = value.magnitude
            repeat {
                start -= 1
                buffer[start] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                start -= 1
                buffer[start] = 0x2D
            }
            updatePiece(UnsafeRawBufferPointer(rebasing: buffer[start..<20]))
        }
    }

    package mutating func finish() -> UUIDValue {
        var digest: (UInt64, UInt64, UInt32) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digest) { bytes in
            // 8 + 8 + 4 contiguous bytes: the 20 bytes of the digest.
            _ = SHA1_Final(bytes.bindMemory(to: UInt8.self).baseAddress, &context)
        }
        let high = UInt64(bigEndian: digest.0) & 0xFFFF_FFFF_FFFF_0FFF | 0x5000
        let low = UInt64(bigEndian: digest.1) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return UUIDValue(high: high, low: low)
    }
}
