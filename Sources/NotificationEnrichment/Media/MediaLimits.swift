/// How large an attachment may be. Each bound is inclusive.
package struct MediaLimits: Hashable, Sendable {
    /// Bytes of a file. Apple's table says 5, 10 and 50 MB, here read as multiples of 2^20 bytes.
    package var audioBytes: Int64 = 5 << 20
    package var imageBytes: Int64 = 10 << 20
    package var movieBytes: Int64 = 50 << 20
    /// Pixels of an image: decoded, each takes four bytes of a device's memory.
    package var pixels: Int64 = 50_000_000
    /// Pixels of an image's width, and of its height.
    package var side: Int = 16_384
    /// Frames of an animated image.
    package var frames: Int = 2_000
    /// Pixels of all frames together: a device draws the whole image for each frame.
    package var animationPixels: Int64 = 500_000_000

    package init() {}

    package func bytes(of kind: MediaKind) -> Int64 {
        switch kind {
        case .audio: audioBytes
        case .image: imageBytes
        case .movie: movieBytes
        }
    }

    /// The bound while the kind is not known yet.
    var largestBytes: Int64 { max(audioBytes, imageBytes, movieBytes) }

    /// - Throws: `dimensions` if an image of this size, with so many frames, is empty or too large.
    func check(_ size: MediaSize, frames count: Int = 1) throws(MediaProblem) {
        guard size.width > 0, size.height > 0 else {
            throw MediaProblem(.dimensions, "the image has no pixels: \(size)")
        }
        guard size.width <= side, size.height <= side, size.pixels <= pixels else {
            throw MediaProblem(.dimensions, "\(size), at most \(side) a side and \(pixels) pixels are allowed")
        }
        let (total, isOverflow) = size.pixels.multipliedReportingOverflow(by: Int64(count))
        guard count <= frames, count <= 1 || !isOverflow && total <= animationPixels else {
            throw MediaProblem(
                .dimensions,
                "\(count) frames of \(size), at most \(frames) and \(animationPixels) pixels together are allowed"
            )
        }
    }
}

/// Width and height of an image in pixels.
struct MediaSize: Hashable, Sendable, CustomStringConvertible {
    var width: Int
    var height: Int

    /// At most `Int64.max`.
    var pixels: Int64 {
        let (product, isOverflow) = Int64(width).multipliedReportingOverflow(by: Int64(height))
        return isOverflow ? .max : product
    }

    var description: String { "\(width)x\(height)" }
}
