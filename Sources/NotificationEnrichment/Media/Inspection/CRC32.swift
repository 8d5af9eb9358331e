/// The CRC-32 of PNG chunks (PNG specification, annex D), eight bytes at a step.
struct CRC32: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    var value: UInt32 { ~state }

    /// Eight tables of 256 entries: entry `n` of table `k` is the remainder of byte `n` followed by `k` zero bytes.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = []
        for byte in UInt32(0)..<256 {
            var rest = byte
            for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
            tables.append(rest)
        }
        for index in 256..<2048 {
            let previous = tables[index - 256]
            tables.append(previous >> 8 ^ tables[Int(previous & 0xFF)])
        }
        return tables
    }()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var crc = state
        Self.tables.withUnsafeBufferPointer { tables in
            var offset = 0
            while bytes.count - offset >= 8 {
                let next = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let word = UInt64(littleEndian: next) ^ UInt64(crc)
                crc = 0
                for step in 0..<8 {
                    let byte = Int(truncatingIfNeeded: word >> UInt64(step * 8)) & 0xFF
                    crc ^= tables[(7 - step) * 256 + byte]
                }
                offset += 8
            }
            for byte in bytes[offset...] {
                crc = crc >> 8 ^ tables[Int((crc ^ UInt32(byte)) & 0xFF)]
            }
        }
        state = crc
    }
}
