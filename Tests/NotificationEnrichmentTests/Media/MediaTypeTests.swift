import OutboundHTTP
import Testing

@testable import NotificationEnrichment

struct MediaTypeTests {
    @Test(arguments: MediaType.allCases)
    func `a type is found again by its names`(_ type: MediaType) {
        #expect(MediaType(uniformType: type.uniformType) == type)
        #expect(MediaType(fileExtension: type.fileExtension) == type)
        #expect(MediaType(fileExtension: type.fileExtension.uppercased()) == type)
        #expect(MediaType.named(mimeType: type.mimeType).allows(type))
    }

    @Test func `each type has a file extension of its own`() {
        #expect(Set(MediaType.allCases.map(\.fileExtension)).count == MediaType.allCases.count)
    }

    @Test func `other spellings are known, other types are not`() {
        #expect(MediaType(fileExtension: "JPEG") == .jpeg && MediaType(fileExtension: "aif") == .aiff)
        #expect(MediaType(fileExtension: "webp") == nil && MediaType(fileExtension: "") == nil)
        #expect(MediaType(uniformType: "public.image") == nil && MediaType(uniformType: "public.heic") == nil)
        #expect(MediaType.named(mimeType: "image/jpg") == .types([.jpeg]))
        #expect(MediaType.named(mimeType: "audio/X-Wav") == .types([.wav]))
        #expect(MediaType.named(mimeType: "image/webp") == .foreign)
        #expect(MediaType.named(mimeType: "application/octet-stream") == .nothing)
    }

    @Test func `the bounds are those of the kinds`() {
        let limits = MediaLimits()
        #expect(MediaKind.allCases.map(limits.bytes(of:)) == [5 << 20, 10 << 20, 50 << 20])
    }

    @Test func `limits without a bound do not overflow`() throws {
        var limits = MediaLimits()
        (limits.side, limits.pixels, limits.frames, limits.animationPixels) = (.max, .max, .max, .max)
        try limits.check(MediaSize(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF))
        #expect(throws: MediaProblem.self) {
            try limits.check(MediaSize(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF), frames: 0xFFFF_FFFF)
        }
    }
}
