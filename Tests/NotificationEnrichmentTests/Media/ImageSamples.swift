@testable import NotificationEnrichment

extension [UInt8] {
    // MARK: - PNG

    static let pngSignature: Self = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func pngChunk(_ name: String, _ contents: Self = []) -> Self {
        var checksum = CRC32()
        (tag(name) + contents).withUnsafeBytes { checksum.update($0) }
        return big(contents.count, 4) + tag(name) + contents + big(Int(checksum.value), 4)
    }

    static func pngHeader(_ width: Int, _ height: Int, depth: UInt8 = 8, color: UInt8 = 0) -> Self {
        pngChunk("IHDR", join(big(width, 4), big(height, 4), [depth, color, 0, 0, 0]))
    }

    /// Four gray pixels in one stored block (RFC 1950, RFC 1951): a filter byte and two pixels a row.
    static let pngPixels: Self =
        [0x78, 0x01, 0x01, 6, 0, 0xF9, 0xFF, 0, 0x10, 0x20, 0, 0x30, 0x40, 0x02, 0x14, 0x00, 0xA1]

    static func png(_ width: Int = 2, _ height: Int = 2, extra: Self = []) -> Self {
        join(pngSignature, pngHeader(width, height), extra, pngChunk("IDAT", pngPixels), pngChunk("IEND"))
    }

    static func frameControl(_ number: Int, _ width: Int = 2, _ height: Int = 2, x: Int = 0) -> Self {
        pngChunk(
            "fcTL",
            join(big(number, 4), big(width, 4), big(height, 4), big(x, 4), big(0, 4), [0, 1, 0, 10, 0, 0])
        )
    }

    static func animatedPNG(frames: Int, announced: Int? = nil, _ width: Int = 2, _ height: Int = 2) -> Self {
        var bytes = pngSignature + pngHeader(width, height)
        bytes += pngChunk("acTL", join(big(announced ?? frames, 4), big(0, 4)))
        bytes += frameControl(0) + pngChunk("IDAT", pngPixels)
        for frame in 1..<Swift.max(1, frames) {
            bytes += frameControl(2 * frame - 1) + pngChunk("fdAT", big(2 * frame, 4) + pngPixels)
        }
        return bytes + pngChunk("IEND")
    }

    // MARK: - GIF

    static func gifFrame(_ width: Int = 3, _ height: Int = 2, x: Int = 0) -> Self {
        // Two colors, code size 2, six pixels in one sub-block.
        join(
            [0x2C],
            little(x, 2),
            little(0, 2),
            little(width, 2),
            little(height, 2),
            [0x80, 0, 0, 0, 0xFF, 0xFF, 0xFF, 2, 3, 0x84, 0x11, 0x05, 0]
        )
    }

    static func gif(_ width: Int = 3, _ height: Int = 2, frames: Int = 1, extra: Self = []) -> Self {
        join(
            tag("GIF89a"),
            little(width, 2),
            little(height, 2),
            [0x80, 0, 0],
            [0, 0, 0, 0xFF, 0xFF, 0xFF],
            [0x21, 0xFE, 2],
            tag("Hi"),
            [0],
            times(frames, join([0x21, 0xF9, 4, 0, 10, 0, 0, 0], gifFrame())),
            extra,
            [0x3B]
        )
    }

    // MARK: - JPEG

    static func segment(_ code: UInt8, _ contents: Self) -> Self {
        join([0xFF, code], big(contents.count + 2, 2), contents)
    }

    static let jpegTables = join(
        segment(0xDB, join([0], times(64, [1]))),
        segment(0xC4, join([0x00, 1], times(15, [0]), [0])),
        segment(0xC4, join([0x10, 1], times(15, [0]), [0]))
    )

    static func jpegFrame(_ width: Int, _ height: Int, code: UInt8 = 0xC0, precision: UInt8 = 8) -> Self {
        segment(code, join([precision], big(height, 2), big(width, 2), [1, 1, 0x11, 0]))
    }

    static let jpegScan = segment(0xDA, [1, 1, 0x00, 0, 63, 0])

    /// Eight by eight gray pixels: the only codes are "no difference" and "end of block", one bit each.
    static func jpeg(
        _ width: Int = 8,
        _ height: Int = 8,
        code: UInt8 = 0xC0,
        extra: Self = [],
        data: Self = [0x3F]
    ) -> Self {
        join(
            [0xFF, 0xD8],
            segment(0xE0, join(tag("JFIF\0"), [1, 1, 0, 0, 1, 0, 1, 0, 0])),
            extra,
            jpegTables,
            jpegFrame(width, height, code: code),
            jpegScan,
            data,
            [0xFF, 0xD9]
        )
    }
}
