import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Names of stored media")
struct MediaNameTests {
    // FIPS 180-2, B.1.
    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private static func digest(of parts: [String]) throws -> MediaDigest {
        var builder = try MediaDigest.Builder()
        for part in parts { Array(part.utf8).withUnsafeBytes { builder.append($0) } }
        return builder.digest()
    }

    @Test(
        "the digest is SHA-256, in whatever parts the bytes come",
        arguments: [["abc"], ["a", "", "bc"], ["a", "b", "c"]]
    )
    func digest(parts: [String]) throws {
        let digest = try Self.digest(of: parts)
        #expect(digest.description == Self.abc)
        #expect(MediaDigest(Self.abc) == digest)
    }

    @Test("a digest is 64 hexadecimal digits in lower case and nothing else")
    func digestText() {
        for text in [
            "", "ba78", Self.abc.uppercased(), Self.abc + "0", String(Self.abc.dropLast()),
            String(Self.abc.dropLast()) + "g",
            String(Self.abc.dropLast()) + "é", String(Self.abc.dropLast(2)) + "é", " " + Self.abc.dropLast(),
        ] {
            #expect(MediaDigest(text) == nil, "\(text)")
        }
    }

    @Test("every type has a file name that is read back", arguments: MediaType.allCases)
    func everyType(type: MediaType) throws {
        let name = MediaName(digest: try #require(MediaDigest(Self.abc)), type: type)
        #expect(name.fileName == "\(Self.abc).\(type.fileExtension)")
        #expect(MediaName(fileName: name.fileName) == name)
    }

    @Test(
        "a name that is not exactly one of the store's is refused",
        arguments: [
            "", ".", "..", "/", ".png", "\(abc)", "\(abc).", "\(abc).exe", "\(abc).PNG", "\(abc).jpeg", "\(abc).png.",
            "\(abc).png.png", "\(abc)..png", "\(abc).png/", "/\(abc).png", "../\(abc).png", "incoming/\(abc).png",
            "\(abc).png\0", "\0\(abc).png", "\(abc)\0.png", "\(abc).png/../../../etc/passwd", "../../../etc/passwd",
            "..%2f\(abc).png", "\(abc).png ", "ba/\(abc).png", "BA\(abc.dropFirst(2)).png", "\(abc).pn\u{67}\u{301}",
        ]
    )
    func attacks(name: String) throws {
        #expect(MediaName(fileName: name) == nil)
        #expect(try StoreFolder().store().open(name) == nil)
    }
}
