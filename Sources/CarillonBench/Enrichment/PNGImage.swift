/// A PNG image of noise, as large as it should be: the pixels are in stored blocks, so no compressor changes the size.
///
/// The checksums are computed here, not by the code that is measured.
enum PNGImage {
    /// Three bytes a pixel, after the byte for the filter of each row.
    private static let rowPixels = 1_000
    private static let rowBytes = 1 + 3 * rowPixels
    /// Of a stored block, and so of an IDAT chunk: 65,535 bytes at most.
    private static let blockBytes = 65_535
    /// Signature, IHDR, the head and the end of the zlib stream, and IEND.
    private static let frameBytes = 8 + 25 + 2 + 12 + 16 + 12
    /// Per stored block: its head, and the chunk around it.
    private static let blockFrameBytes = 5 + 12

    /// How much smaller than wanted an image may be.
    static let mostMissing = rowBytes + blockFrameBytes

    /// - Parameters:
    ///   - number: which image; images of different numbers have different pixels.
    ///   - bytes: the size of the file, from 8,000 on; the image has at most ``mostMissing`` less.
    static func bytes(_ number: Int, bytes: Int) -> [UInt8] {
        let blocks = bytes / blockBytes + 1
        let rows = max(1, (bytes - frameBytes - blocks * blockFrameBytes) / rowBytes)
        let pixels = noise(number, rows: rows)
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file.reserveCapacity(bytes)
        // Eight bits, RGB; deflate, adaptive filters, not interlaced.
        append("IHDR", big32(UInt32(rowPixels)) + big32(UInt32(rows)) + [8, 2, 0, 0, 0], to: &file)
        append("IDAT", [0x78, 0x01], to: &file)
        for start in stride(from: 0, to: pixels.count, by: blockBytes) {
            let block = pixels[start..<min(start + blockBytes, pixels.count)]
            let isLast: UInt8 = block.endIndex == pixels.count ? 1 : 0
            let length = UInt16(block.count)
            append("IDAT", [isLast] + little16(length) + little16(~length) + block, to: &file)
        }
        append("IDAT", big32(adler32(pixels)), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// The rows with their filter bytes, which are 0 for no filter.
    private static func noise(_ number: Int, rows: Int) -> [UInt8] {
        let seed = Pattern.mixed(number)
        return [UInt8](unsafeUninitializedCapacity: rows * rowBytes) { bytes, count in
            var word: UInt64 = 0
            for index in 0..<rows * rowBytes {
                if index % 8 == 0 { word = Pattern.mixed(Int(truncatingIfNeeded: seed &+ UInt64(index))) }
                bytes[index] = index % rowBytes == 0 ? 0 : UInt8(truncatingIfNeeded: word >> UInt64(index % 8 * 8))
            }
            count = rows * rowBytes
        }
    }

    // MARK: - The format

    private static func append(_ tag: StaticString, _ contents: [UInt8], to file: inout [UInt8]) {
        file += big32(UInt32(contents.count))
        let checked = file.count
        tag.withUTF8Buffer { file += $0 }
        file += contents
        file += big32(crc32(file[checked...]))
    }

    private static func big32(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func little16(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static let remainders: [UInt32] = (UInt32(0)..<256).map { byte in
        (0..<8).reduce(byte) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }

    private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = remainders
        return ~bytes.reduce(0xFFFF_FFFF) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 0xFF)] }
    }
}
