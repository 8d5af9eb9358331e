/// The Java client's default partitioner: murmur2 with its positive mask.
public enum KafkaPartitioner {
    /// The hash of `org.apache.kafka.common.utils.Utils.murmur2`.
    public static func murmur2(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        let multiplier: UInt32 = 0x5bd1_e995
        let shift: UInt32 = 24
        let count = bytes.count
        var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: count)
        var offset = 0
        while offset + 4 <= count {
            var k = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            k = k &* multiplier
            k ^= k >> shift
            k = k &* multiplier
            hash = (hash &* multiplier) ^ k
            offset += 4
        }
        let left = count - offset
        if left == 3 { hash ^= UInt32(bytes[offset + 2]) << 16 }
        if left >= 2 { hash ^= UInt32(bytes[offset + 1]) << 8 }
        if left >= 1 {
            hash ^= UInt32(bytes[offset])
            hash = hash &* multiplier
        }
        hash ^= hash >> 13
        hash = hash &* multiplier
        hash ^= hash >> 15
        return Int32(bitPattern: hash)
    }

    /// The hash of the bytes of an array.
    public static func murmur2(_ bytes: [UInt8]) -> Int32 { bytes.withUnsafeBytes { murmur2($0) } }

    /// The partition of a key, 0 to `count` - 1; 0 when `count` is not positive.
    public static func partition(forKey key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
        count > 0 ? (murmur2(key) & 0x7fff_ffff) % count : 0
    }

    /// The partition of a key, 0 to `count` - 1.
    public static func partition(forKey key: [UInt8], count: Int32) -> Int32 {
        key.withUnsafeBytes { partition(forKey: $0, count: count) }
    }
}
