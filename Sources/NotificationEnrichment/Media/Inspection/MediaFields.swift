/// Bytes of a header, read by offset. What lies outside reads as 0, so no length in a file leads out of bounds. Valid
/// only during the call that gets it.
struct MediaFields {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    func byte(_ offset: Int) -> UInt8 { bytes.indices.contains(offset) ? bytes[offset] : 0 }

    func big16(_ offset: Int) -> Int { Int(byte(offset)) << 8 | Int(byte(offset + 1)) }

    func big32(_ offset: Int) -> Int { big16(offset) << 16 | big16(offset + 2) }

    func big64(_ offset: Int) -> UInt64 { UInt64(big32(offset)) << 32 | UInt64(big32(offset + 4)) }

    func little16(_ offset: Int) -> Int { Int(byte(offset + 1)) << 8 | Int(byte(offset)) }

    func little32(_ offset: Int) -> Int { little16(offset + 2) << 16 | little16(offset) }

    func tag(_ offset: Int) -> FourCC { FourCC(rawValue: UInt32(big32(offset))) }

    /// The part from an offset on, as far as there is one.
    func slice(from offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.dropFirst(offset).prefix(count))
    }

    func starts(with prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
}

/// A tag of four characters, as in RIFF, MPEG-4 and PNG.
struct FourCC: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter value: four ASCII characters.
    init(stringLiteral value: StaticString) {
        rawValue = value.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private var characters: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

    var isPrintable: Bool { characters.allSatisfy { (0x20...0x7E).contains($0) } }

    /// Its characters if they are visible ASCII, else its number.
    var description: String {
        isPrintable ? "\"\(String(decoding: characters, as: UTF8.self))\"" : "0x\(String(rawValue, radix: 16))"
    }
}
