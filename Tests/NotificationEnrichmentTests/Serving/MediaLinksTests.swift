import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Links to media")
struct MediaLinksTests {
    private static let key = Array("0123456789abcdef0123456789abcdef".utf8)
    private static let otherKey = Array("fedcba9876543210fedcba9876543210".utf8)
    private static let base = "https://media.example.com"
    /// In milliseconds since 1970.
    private static let now: Int64 = 1_700_000_000_500

    private let media: StoredMedia
    private let name: String

    init() throws {
        let digest = try #require(MediaDigest("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        media = StoredMedia(digest: digest, type: .jpeg, bytes: 3)
        name = media.fileName
    }

    private static func links(_ keys: [UInt8]...) -> MediaLinks { MediaLinks(base: base, keys: keys) }

    /// The parameters of a signed link.
    private func query(_ links: MediaLinks, until: Int64) throws -> (expires: String, signature: String) {
        let url = links.url(of: media, until: until)
        let query = try #require(url.split(separator: "?").last)
        let values = query.split(separator: "&").compactMap {
            $0.split(separator: "=", maxSplits: 1).last.map(String.init)
        }
        try #require(values.count == 2)
        return (values[0], values[1])
    }

    @Test("other keys sign and verify from the moment that they are given")
    func replaced() throws {
        let links = Self.links(Self.key)
        let until = Self.now + 60_000
        let old = try query(links, until: until)
        links.use(keys: [Self.otherKey, Self.key])
        let new = try query(links, until: until)
        #expect(old.signature != new.signature)
        func verdict(_ link: (expires: String, signature: String)) -> MediaLinks.Verdict {
            links.verify(name, expires: link.expires, signature: link.signature, at: Self.now)
        }
        #expect(verdict(old) == verdict(new) && verdict(old) != .wrong)
        links.use(keys: [Self.otherKey])
        #expect(verdict(old) == .wrong && verdict(new) != .wrong)
    }

    @Test("without keys a link is the plain address, and every request is allowed", arguments: ["", "/", "///"])
    func open(slashes: String) {
        let links = MediaLinks(base: Self.base + slashes, keys: [])
        #expect(links.url(of: media, until: 5) == "\(Self.base)/media/\(name)")
        #expect(links.verify(name, expires: nil, signature: nil, at: Self.now) == .open)
        #expect(links.verify(name, expires: "1", signature: "old", at: Self.now) == .open)
    }

    @Test("a link has the signature that another implementation computes")
    func knownSignature() {
        // python3: base64.urlsafe_b64encode(hmac.digest(key, f"{name}\n{expires}".encode(), "sha256")).rstrip(b"=")
        #expect(
            Self.links(Self.key).url(of: media, until: 1_700_000_060_000)
                == "\(Self.base)/media/\(name)?expires=1700000060&signature=oq0TtMWjteh7j_ZaT5mnBSoylc-WPFc31iybp3AHeHg"
        )
    }

    @Test("a link is valid until its end, with the rest of its life")
    func valid() throws {
        let links = Self.links(Self.key)
        let (expires, signature) = try query(links, until: 1_700_000_059_001)
        #expect(expires == "1700000060")
        let cases: [(Int64, MediaLinks.Verdict)] = [
            (Self.now, .valid(seconds: 60)), (1_700_000_059_999, .valid(seconds: 1)), (1_700_000_060_000, .expired),
            (.max, .expired), (0, .valid(seconds: 1_700_000_060)), (.min, .valid(seconds: 1_700_000_060)),
        ]
        for (now, verdict) in cases {
            #expect(links.verify(name, expires: expires, signature: signature, at: now) == verdict, "\(now)")
        }
    }

    @Test("a link of another medium, another end or with another signature is wrong")
    func tampered() throws {
        let links = Self.links(Self.key)
        let (expires, signature) = try query(links, until: 1_700_000_060_000)
        func verify(_ name: String, _ expires: String?, _ signature: String?) -> MediaLinks.Verdict {
            links.verify(name, expires: expires, signature: signature, at: Self.now)
        }
        #expect(verify("00\(name.dropFirst(2))", expires, signature) == .wrong)
        #expect(verify(name.replacing(".jpg", with: ".png"), expires, signature) == .wrong)
        #expect(verify(name, nil, signature) == .wrong)
        #expect(verify(name, expires, nil) == .wrong)
        #expect(verify(name, nil, nil) == .wrong)
        for other in [
            "1700000061", "17000000600", "+1700000060", "01700000060", " 1700000060", "-1", "", "x",
            "99999999999999999999",
        ] {
            #expect(verify(name, other, signature) == .wrong, "\(other)")
        }
        var flipped = Array(signature.utf8)
        for index in flipped.indices {
            let former = flipped[index]
            flipped[index] = former == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(verify(name, expires, String(decoding: flipped, as: UTF8.self)) == .wrong)
            flipped[index] = former
        }
        for other in ["", signature + "=", String(signature.dropLast()), signature + "A", signature.uppercased()] {
            #expect(verify(name, expires, other) == .wrong, "\(other)")
        }
    }

    @Test("the first key signs and both verify, so that keys can be changed")
    func rotation() throws {
        let old = Self.links(Self.key)
        let both = Self.links(Self.otherKey, Self.key)
        let new = Self.links(Self.otherKey)
        func verdict(of link: MediaLinks, by other: MediaLinks) throws -> MediaLinks.Verdict {
            let (expires, signature) = try query(link, until: 1_700_000_060_000)
            return other.verify(name, expires: expires, signature: signature, at: Self.now)
        }
        #expect(try verdict(of: old, by: both) == .valid(seconds: 60))
        #expect(try verdict(of: new, by: both) == .valid(seconds: 60))
        #expect(try verdict(of: both, by: new) == .valid(seconds: 60))
        #expect(try verdict(of: both, by: old) == .wrong)
    }

    @Test("an end beyond all calendars is held to one that can be written", arguments: [Int64.min, .max])
    func extremes(until: Int64) throws {
        let links = Self.links(Self.key)
        let (expires, signature) = try query(links, until: until)
        let expected: MediaLinks.Verdict = until < 0 ? .expired : .valid(seconds: 253_402_300_799 - 1_700_000_000)
        #expect(links.verify(name, expires: expires, signature: signature, at: Self.now) == expected)
    }

    @Test("keys are never shown")
    func hidden() {
        let links = Self.links(Self.key)
        var dumped = ""
        dump(links, to: &dumped)
        for text in ["\(links)", String(reflecting: links), dumped] { #expect(!text.contains("48, 49"), "\(text)") }
    }
}
