import OutboundHTTP
import Testing

@testable import NotificationEnrichment

struct MediaInspectorTests {
    @Test(arguments: MediaSample.all, [0, 1, 7, 4096])
    func `a whole file passes, in chunks of any size`(_ sample: MediaSample, _ chunk: Int) throws {
        let facts = try inspect(sample.bytes, chunk: chunk).get()
        #expect(facts.type == sample.type && facts.bytes == Int64(sample.bytes.count))
        #expect(facts.width == sample.size?.width && facts.height == sample.size?.height)
    }

    @Test(arguments: MediaSample.all)
    func `a file that is cut anywhere is refused`(_ sample: MediaSample) {
        for length in 0..<sample.wholeFrom {
            let prefix = [UInt8](sample.bytes.prefix(length))
            #expect(refusal(prefix) == .truncated, "\(length) bytes")
            #expect(refusal(prefix, chunk: 5) == .truncated, "\(length) bytes")
        }
        #expect(refusal([UInt8](sample.bytes.prefix(sample.wholeFrom))) == nil)
    }

    @Test func `the type is known before the file is whole`() throws {
        var inspector = MediaInspector(MediaExpectation(), MediaLimits())
        try [UInt8].png().prefix(11).withUnsafeBytes { try inspector.consume($0) }
        #expect(inspector.type == nil)
        try [UInt8].png().dropFirst(11).prefix(1).withUnsafeBytes { try inspector.consume($0) }
        #expect(inspector.type == .png)
    }

    @Test func `the first problem stays`() throws {
        var inspector = MediaInspector(MediaExpectation(), MediaLimits())
        let first = try #require(throws: MediaProblem.self) {
            try tag("<!DOCTYPE html>").withUnsafeBytes { try inspector.consume($0) }
        }
        #expect(first.code == .unsupportedType)
        #expect(throws: first) { try [UInt8].png().withUnsafeBytes { try inspector.consume($0) } }
        #expect(throws: first) { _ = try inspector.finish() }
    }

    @Test(
        arguments: [
            tag("<html><body></body></html>"), tag("<svg xmlns=\"http"), tag("%PDF-1.7\n%%%%%%"),
            tag("PK\u{3}\u{4}12345678"),
            [0x7F] + tag("ELF 12345678"), tag("#!/bin/sh\necho"), tag("RIFF\u{20}\0\0\0WEBPVP8 "),
            tag("FORM\0\0\0\u{20}ILBM"),
            .fileType("heic"), .fileType("avif"), .fileType("mif1"), .fileType("qt  "), .fileType("3gp5"),
            tag("OggS12345678"), tag("{\"error\": 404}"), [UInt8](repeating: 0, count: 12), tag("hello, world"),
            [0xFF, 0xFE] + [UInt8](repeating: 0x41, count: 20),
            [0x47, 0x40, 0, 0x10] + [UInt8](repeating: 0, count: 184),
        ] as [[UInt8]]
    )
    func `anything else is no supported type`(_ bytes: [UInt8]) {
        #expect(refusal(bytes) == .unsupportedType)
        #expect(refusal(bytes, chunk: 1) == .unsupportedType)
    }

    @Test func `a file is too large as soon as its kind's bound is exceeded`() {
        var limits = MediaLimits()
        (limits.audioBytes, limits.imageBytes, limits.movieBytes) = (64, 100, 70)
        let image = [UInt8].png(extra: .pngChunk("tEXt", [UInt8](repeating: 0x20, count: 200)))
        #expect(refusal([UInt8](image.prefix(100)), chunk: 1, MediaExpectation(), limits) == .truncated)
        #expect(refusal([UInt8](image.prefix(101)), chunk: 1, MediaExpectation(), limits) == .tooLarge)
        #expect(refusal(.mp3(frames: 1), MediaExpectation(), limits) == .tooLarge)
        #expect(refusal([UInt8]([UInt8].wav().prefix(65)), chunk: 65, MediaExpectation(), limits) == .tooLarge)
        #expect(refusal([UInt8]([UInt8].mpeg4().prefix(71)), chunk: 71, MediaExpectation(), limits) == .tooLarge)
        limits.imageBytes = Int64([UInt8].png().count)
        #expect(refusal(.png(), MediaExpectation(), limits) == nil)
        #expect(refusal(.png() + [0], MediaExpectation(), limits) == .tooLarge)
    }

    @Test func `before the type is known the largest bound applies`() {
        var limits = MediaLimits()
        (limits.audioBytes, limits.imageBytes, limits.movieBytes) = (1, 2, 8)
        #expect(refusal([UInt8]([UInt8].png().prefix(8)), chunk: 1, MediaExpectation(), limits) == .truncated)
        #expect(refusal([UInt8]([UInt8].png().prefix(9)), chunk: 1, MediaExpectation(), limits) == .tooLarge)
    }
}

struct MediaLabelTests {
    private static func refused(_ bytes: [UInt8], hint: String? = nil, mime: String? = nil) -> MediaProblem.Code? {
        refusal(bytes, MediaExpectation(typeHint: hint, mimeType: mime))
    }

    @Test(arguments: MediaSample.all)
    func `labels that agree with the bytes pass`(_ sample: MediaSample) {
        let (type, bytes) = (sample.type, sample.bytes)
        #expect(Self.refused(bytes, hint: type.uniformType, mime: type.mimeType) == nil)
        #expect(Self.refused(bytes, hint: "public.\(type.kind)", mime: "application/octet-stream") == nil)
        #expect(Self.refused(bytes, hint: "PUBLIC.DATA", mime: "\(type.mimeType.uppercased()) ; charset=utf-8") == nil)
    }

    @Test(arguments: MediaSample.all, MediaSample.all)
    func `another type's labels are a mismatch`(_ sample: MediaSample, _ other: MediaSample) {
        let hint = MediaType.named(uniformType: other.type.uniformType)
        let mime = MediaType.named(mimeType: other.type.mimeType)
        // A general brand of MPEG-4 is also audio.
        let types: [MediaType] = sample.name == "MPEG-4" ? [.mpeg4, .mpeg4Audio] : [sample.type]
        let hintMatches = types.contains(where: hint.allows)
        let mimeMatches = types.contains(where: mime.allows)
        #expect((Self.refused(sample.bytes, hint: other.type.uniformType) == nil) == hintMatches)
        #expect((Self.refused(sample.bytes, mime: other.type.mimeType) == nil) == mimeMatches)
        if !hintMatches { #expect(Self.refused(sample.bytes, hint: other.type.uniformType) == .typeMismatch) }
        if !mimeMatches { #expect(Self.refused(sample.bytes, mime: other.type.mimeType) == .typeMismatch) }
    }

    @Test(arguments: [
        "image/webp", "text/html; charset=utf-8", "image/*", "image/png, image/png", "png", "image/png x",
    ])
    func `a Content-Type that is no supported type is a mismatch`(_ mime: String) {
        #expect(Self.refused(.png(), mime: mime) == .typeMismatch)
    }

    @Test(arguments: [nil, "", " ", ";x=y", "Application/Octet-Stream", "binary/octet-stream", "image/png;charset=x"])
    func `a Content-Type without a statement leaves it to the bytes`(_ mime: String?) {
        #expect(Self.refused(.png(), mime: mime) == nil)
    }

    @Test(arguments: ["public.heic", "org.webmproject.webp", "jpeg", "", "image/png", "public.text"])
    func `a type hint that is not known is no supported type`(_ hint: String) {
        #expect(Self.refused(.png(), hint: hint) == .unsupportedType)
    }

    @Test func `the kind of a hint must agree`() {
        #expect(Self.refused(.png(), hint: "public.movie") == .typeMismatch)
        #expect(Self.refused(.png(), hint: "public.audiovisual-content") == .typeMismatch)
        #expect(Self.refused(.wav(), hint: "public.audiovisual-content") == nil)
        #expect(Self.refused(.wav(), hint: "public.image") == .typeMismatch)
        #expect(Self.refused(.programStream(isMPEG2: true), hint: "public.mpeg") == nil)
        #expect(Self.refused(.programStream(isMPEG2: false), hint: "public.mpeg-2-video") == .typeMismatch)
    }

    @Test func `labels decide whether MPEG-4 of a general brand is audio`() throws {
        func type(_ brand: String, hint: String? = nil, mime: String? = nil) -> MediaType? {
            try? inspect(.mpeg4(brand: brand), MediaExpectation(typeHint: hint, mimeType: mime)).get().type
        }
        #expect(type("isom") == .mpeg4 && type("isom", mime: "audio/mp4") == .mpeg4Audio)
        #expect(type("mp42", hint: "public.mpeg-4-audio") == .mpeg4Audio)
        #expect(type("mp42", hint: "public.mpeg-4-audio", mime: "video/mp4") == nil)
        #expect(type("M4V ", mime: "audio/mp4") == nil && type("M4A ", mime: "video/mp4") == nil)
    }

    @Test func `a label cannot break a log line`() {
        let expectation = MediaExpectation(mimeType: "x\n\u{1B}[31m" + String(repeating: "y", count: 5000))
        guard case .failure(let problem) = inspect(.png(), expectation) else { return #expect(Bool(false)) }
        #expect(problem.detail.utf8.count < 200 && problem.detail.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }
}
