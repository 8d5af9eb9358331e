import OutboundHTTP
import TestSupport
import Testing

@testable import NotificationEnrichment

/// Damaged and random files: any answer will do, as long as there is one, and the same for any chunks.
struct MediaPropertyTests {
    private static func isSame(_ bytes: [UInt8], chunk: Int) -> Bool {
        switch (inspect(bytes), inspect(bytes, chunk: chunk)) {
        case (.success(let whole), .success(let parts)): whole == parts
        case (.failure(let whole), .failure(let parts)): whole.code == parts.code
        default: false
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a damaged file gets an answer that does not depend on the chunks`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2500 {
            var bytes = try #require(MediaSample.all.randomElement(using: &generator)).bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                let value = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                bytes[index] = value.randomElement(using: &generator) ?? 0
            }
            let chunk = Int.random(in: 1...64, using: &generator)
            #expect(Self.isSame(bytes, chunk: chunk), "seed \(seed), chunks of \(chunk), \(bytes)")
        }
    }

    @Test(arguments: [5, 6, 7, 8] as [UInt64])
    func `random bytes behind a beginning get an answer that does not depend on the chunks`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2500 {
            let sample = try #require(MediaSample.all.randomElement(using: &generator)).bytes
            let start = sample.prefix(Int.random(in: 0...sample.count, using: &generator))
            let tail = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let chunk = Int.random(in: 1...64, using: &generator)
            #expect(Self.isSame(start + tail, chunk: chunk), "seed \(seed), chunks of \(chunk), \(start + tail)")
        }
    }
}
