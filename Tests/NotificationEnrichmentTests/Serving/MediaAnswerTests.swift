import HTTPTypes
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Answers with media")
struct MediaAnswerTests {
    private static let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let tag = "\"\(digest)\""

    private static func answer(
        _ method: HTTPRequest.Method = .get,
        range: String? = nil,
        ifNoneMatch: String? = nil,
        ifRange: String? = nil,
        caching: MediaAnswer.Caching = .everybody
    ) throws -> MediaAnswer {
        let media = StoredMedia(digest: try #require(MediaDigest(digest)), type: .jpeg, bytes: 1000)
        let conditions = MediaAnswer.Conditions(range: range, ifNoneMatch: ifNoneMatch, ifRange: ifRange)
        return MediaAnswer(media, method: method, conditions, caching: caching)
    }

    @Test("the whole medium, with fields that let no client take it for something else")
    func whole() throws {
        let answer = try Self.answer()
        #expect(answer.status == .ok)
        #expect(answer.body == 0..<1000)
        #expect(
            answer.fields == [
                .eTag: Self.tag,
                .cacheControl: "public, max-age=31536000, immutable",
                .acceptRanges: "bytes",
                .crossOriginResourcePolicy: "cross-origin",
                .contentType: "image/jpeg",
                .xContentTypeOptions: "nosniff",
                .contentDisposition: "inline",
                .contentSecurityPolicy: "default-src 'none'; sandbox",
                .contentLength: "1000",
            ]
        )
    }

    @Test("HEAD has the fields of GET, no body, and no ranges")
    func head() throws {
        let answer = try Self.answer(.head, range: "bytes=0-9")
        #expect(answer.status == .ok)
        #expect(answer.fields == (try Self.answer()).fields)
        #expect(answer.body.isEmpty)
    }

    @Test("a single range is sent alone")
    func range() throws {
        let answer = try Self.answer(range: "bytes=100-199")
        #expect(answer.status == .partialContent)
        #expect(answer.body == 100..<200)
        #expect(answer.fields[.contentRange] == "bytes 100-199/1000")
        #expect(answer.fields[.contentLength] == "100")
        #expect(answer.fields[.contentType] == "image/jpeg")
        #expect(answer.fields[.eTag] == Self.tag)
        #expect(try Self.answer(range: "bytes=-1").fields[.contentRange] == "bytes 999-999/1000")
        #expect(try Self.answer(range: "bytes=0-").fields[.contentRange] == "bytes 0-999/1000")
    }

    @Test(
        "several ranges and nonsense get the whole",
        arguments: ["bytes=0-1,5-6", "bytes=0-1, 5-6", "lines=1-2", "bytes=2-1"]
    )
    func noRange(range: String) throws {
        let answer = try Self.answer(range: range)
        #expect(answer.status == .ok)
        #expect(answer.body == 0..<1000)
        #expect(answer.fields[.contentRange] == nil)
    }

    @Test("a range beyond the end is refused with the size", arguments: ["bytes=1000-", "bytes=-0"])
    func beyond(range: String) throws {
        let answer = try Self.answer(range: range)
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.fields == [.contentRange: "bytes */1000"])
        #expect(answer.body.isEmpty)
    }

    @Test(
        "a client that has the medium gets 304, whatever range it asks for",
        arguments: [tag, "W/\(tag)", "*", " \(tag)\t", "\"other\", \(tag)", "\"a,b\",W/\(tag),\"c\""]
    )
    func notModified(tags: String) throws {
        for range in [nil, "bytes=0-1", "bytes=1000-"] {
            let answer = try Self.answer(range: range, ifNoneMatch: tags)
            #expect(answer.status == .notModified)
            #expect(answer.body.isEmpty)
            #expect(answer.fields[.eTag] == Self.tag)
            #expect(answer.fields[.cacheControl] == "public, max-age=31536000, immutable")
            #expect(answer.fields[.contentType] == nil)
        }
    }

    @Test(
        "a client that has something else gets the medium",
        arguments: ["", "\"\"", digest, "\"other\"", "W/\(digest)", "w/\(tag)"]
    )
    func modified(tags: String) throws {
        #expect(try Self.answer(ifNoneMatch: tags).status == .ok)
    }

    @Test("If-Range wants the strong tag; otherwise the whole is sent")
    func ifRange() throws {
        #expect(try Self.answer(range: "bytes=0-1", ifRange: Self.tag).status == .partialContent)
        for other in ["\"other\"", "W/\(Self.tag)", "Wed, 21 Oct 2015 07:28:00 GMT", "", "*"] {
            #expect(try Self.answer(range: "bytes=0-1", ifRange: other).status == .ok, "\(other)")
            #expect(try Self.answer(range: "bytes=1000-", ifRange: other).status == .ok, "\(other)")
        }
    }

    @Test("a medium under a signed link is kept by the client alone, and no longer than the link lives")
    func signedLink() throws {
        for (seconds, expected) in [(1, 1), (0, 0), (-5, 0), (.max, 31_536_000)] as [(Int64, Int64)] {
            let answer = try Self.answer(caching: .client(seconds: seconds))
            #expect(answer.fields[.cacheControl] == "private, max-age=\(expected)")
        }
    }

    @Test("conditions are read from the fields of the request")
    func conditions() {
        let fields: HTTPFields = [.range: "bytes=0-1", .ifNoneMatch: "*", .ifRange: "\"a\""]
        #expect(MediaAnswer.Conditions(fields) == .init(range: "bytes=0-1", ifNoneMatch: "*", ifRange: "\"a\""))
        #expect(MediaAnswer.Conditions([:]) == .init())
    }
}
