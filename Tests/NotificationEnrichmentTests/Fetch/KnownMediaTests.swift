import NIOCore
import NIOHTTP1
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Known media")
struct KnownMediaTests {
    private static let png = FetchImage.png()

    @Test("a fresh medium needs no request, and a stale one a conditional request")
    func freshAndStale() async throws {
        let server = try await MediaServer { request in
            let fields = [("cache-control", "max-age=60"), ("etag", "\"v1\"")]
            return request.headers["if-none-match"] == "\"v1\"" ? .status(304, fields) : .image(Self.png, fields)
        }
        let time = FetchTime()
        let bench = try FetchBench(server, time: time)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .downloaded)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .cached)
        #expect(server.requests.count == 1)
        time.advance(.seconds(61))
        #expect(try await bench.fetch(server.url("/a")).get().origin == .revalidated)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .cached)
        #expect(server.requests.count == 2)
    }

    @Test("a medium that has changed is downloaded again")
    func changed() async throws {
        let server = try await MediaServer { request in
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            return request.headers["if-modified-since"] == date
                ? .image(FetchImage.png(seed: 2)) : .image(Self.png, [("last-modified", date)])
        }
        let bench = try FetchBench(server)
        let first = try await bench.fetch(server.url("/a")).get()
        let second = try await bench.fetch(server.url("/a")).get()
        #expect(second.origin == .downloaded)
        #expect(first.stored != second.stored)
    }

    @Test("no-store is not known, and a medium without freshness and validators is downloaded each time")
    func notStorable() async throws {
        let server = try await MediaServer { request in
            request.target == "/a" ? .image(Self.png, [("cache-control", "max-age=60, no-store")]) : .image(Self.png)
        }
        let bench = try FetchBench(server)
        for target in ["/a", "/a", "/b", "/b"] {
            #expect(try await bench.fetch(server.url(target)).get().origin == .downloaded)
        }
        #expect(bench.fetcher.statistics.knownMedia == 0)
    }

    @Test("a fresh medium that the store has lost is downloaded again")
    func evicted() async throws {
        let server = try await MediaServer { request in
            let fields = [("cache-control", "max-age=60"), ("etag", "\"v\"")]
            return request.headers["if-none-match"] == nil ? .image(Self.png, fields) : .status(304, fields)
        }
        let bench = try FetchBench(server)
        let media = try await bench.fetch(server.url("/a")).get()
        try bench.remove(media.stored)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .downloaded)
        #expect(try bench.bytes(media.stored) == Self.png)
    }

    @Test("the target of a redirect is known, the redirect is asked for each time")
    func redirected() async throws {
        let server = try await MediaServer { request in
            request.target == "/a" ? .redirect(to: "/b") : .image(Self.png, [("cache-control", "max-age=60")])
        }
        let bench = try FetchBench(server)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .downloaded)
        #expect(try await bench.fetch(server.url("/a")).get().origin == .cached)
        #expect(server.targets == ["/a", "/b", "/a"])
    }

    @Test("the number of known URLs is bounded, and what was used last stays")
    func bound() {
        let known = KnownMedia(bound: 100) { .now() }
        let facts = MediaFacts(type: .png, bytes: 1)
        guard let digest = MediaDigest(String(repeating: "a", count: 64)) else { return }
        let media = MediaBody.Stored(media: StoredMedia(digest: digest, type: .png, bytes: 1), facts: facts)
        let freshness = HTTPFreshness(["cache-control": "max-age=60"])
        func key(_ number: Int) throws -> MediaKey { try MediaKey(url: "\(number)", typeHint: nil) }
        #expect(throws: Never.self) {
            for number in 0..<1000 {
                known.store(media, freshness, for: try key(number))
                _ = known.entry(try key(0))
            }
            #expect(known.count <= 100)
            #expect(known.fresh(try key(0)) != nil)
            #expect(known.fresh(try key(999)) != nil)
            #expect(known.fresh(try key(800)) == nil)
        }
    }

    @Test(
        "the lifetime of an answer is read from its fields",
        arguments: [
            ([("cache-control", "max-age=60")], 60), ([("cache-control", "public, MAX-AGE=\"60\"")], 60),
            ([("cache-control", "max-age=60, s-maxage=5")], 5), ([("cache-control", "max-age=60"), ("age", "20")], 40),
            ([("cache-control", "max-age=60"), ("age", "99")], 0), ([("cache-control", "no-cache, max-age=60")], 0),
            ([("cache-control", "max-age=99999999999999999999")], 86_400), ([("cache-control", "max-age=-5")], 0),
            ([("cache-control", "max-age")], 0), ([], 0),
            (
                [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")],
                60
            ),
            ([("expires", "Sun, 06 Nov 2094 08:50:37 GMT")], 0),
            ([("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("expires", "0")], 0),
            (
                [
                    ("cache-control", "max-age=7"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                    ("expires", "Sun, 06 Nov 1994 08:50:37 GMT"),
                ],
                7
            ),
        ] as [([(String, String)], Int64)]
    )
    func lifetime(fields: [(String, String)], seconds: Int64) {
        #expect(HTTPFreshness(HTTPHeaders(fields)).lifetime == seconds)
    }

    @Test(
        "answers for one user, or that vary with everything, are not reused",
        arguments: [("cache-control", "private, max-age=60"), ("cache-control", "no-store"), ("vary", "*")]
    )
    func storable(field: (String, String)) {
        #expect(!HTTPFreshness(HTTPHeaders([field])).isStorable)
        #expect(HTTPFreshness(["vary": "accept-encoding"]).isStorable)
    }

    @Test(
        "dates are read, and nothing else",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 EST", nil), ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("", nil), ("0", nil),
        ] as [(String, Int64?)]
    )
    func dates(text: String, seconds: Int64?) {
        #expect(HTTPTime.seconds(text) == seconds)
    }
}
