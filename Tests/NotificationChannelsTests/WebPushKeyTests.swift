import COpenSSL
import HTTPTesting
import NotificationModel
import OutboundHTTP
import ServiceHTTP
import Testing

@testable import NotificationChannels

@Suite("The keys of Web Push")
struct WebPushKeyTests {
    private static func claims(_ authorization: String) throws -> (JSONValue, JSONValue, k: String) {
        let parts = authorization.split(separator: ", ")
        try #require(parts.count == 2 && parts[0].hasPrefix("vapid t=") && parts[1].hasPrefix("k="))
        let pieces = parts[0].dropFirst(8).split(separator: ".")
        try #require(pieces.count == 3)
        let (head, body) = (Base64URL.decode(pieces[0].utf8), Base64URL.decode(pieces[1].utf8))
        #expect(Base64URL.decode(pieces[2].utf8)?.count == 64)
        return (try JSONValue.parse(#require(head)), try JSONValue.parse(#require(body)), String(parts[1].dropFirst(2)))
    }

    @Test func `a token names origin, end and subject, and comes with the public key`() throws {
        let key = try WebPushSample.application().key
        let authorization = try #require(key.authorization(for: "https://push.example.net", until: 1_795_294_800))
        let (head, body, point) = try Self.claims(authorization)
        #expect(head["alg"]?.stringValue == "ES256" && head["typ"]?.stringValue == "JWT")
        #expect(body["aud"]?.stringValue == "https://push.example.net" && body["exp"] == .number("1795294800"))
        #expect(body["sub"]?.stringValue == WebPushSample.subject)
        #expect(Base64URL.decode(Substring(point).utf8)?.count == 65 && point == key.publicKey)
    }

    @Test func `an origin's token stays for half of its life, and is never good for more than 12 hours`() {
        var (origins, made) = (PushOrigins(), [Int64]())
        func token(_ origin: String, _ now: Int64) -> String? {
            origins.authorization(for: origin, at: Timestamp(rawValue: now)) { expiration in
                made.append(expiration)
                return "\(origin) \(expiration)"
            }
        }
        let hour: Int64 = 3_600_000
        #expect(token("a", 0) == "a 43200")
        #expect(token("a", 6 * hour - 1) == "a 43200")
        #expect(token("b", 6 * hour) == "b 64800")
        #expect(token("a", 6 * hour) == "a 64800")
        // The clock was set back.
        #expect(token("a", -hour) == "a 39600")
        #expect(made.count == 4)
    }

    @Test func `the number of origins is bounded, and the one used longest ago is forgotten`() {
        var (origins, made) = (PushOrigins(), 0)
        func use(_ origin: String) {
            _ = origins.authorization(for: origin, at: WebPushSample.now) { _ in
                made += 1
                return origin
            }
        }
        for number in 0..<PushOrigins.most { use("\(number)") }
        use("0")
        use("new")
        #expect(origins.count == PushOrigins.most && made == PushOrigins.most + 1)
        use("0")
        #expect(made == PushOrigins.most + 1)
        use("1")
        #expect(made == PushOrigins.most + 2)
    }

    @Test func `events tell each reason of an origin once, one in a minute, whoever names origins`() {
        var origins = PushOrigins()
        let now = WebPushSample.now
        func isTold(_ name: String, _ why: String, after seconds: Int64) -> Bool {
            let now = now.adding(milliseconds: seconds * 1_000)
            _ = origins.authorization(for: name, at: now) { _ in name }
            return origins.refused(name, because: why, at: now).isTold
        }
        #expect(isTold("a", "403", after: 0) && !isTold("a", "403", after: 60))
        // The first minute has its event; what it leaves out comes with the next refusal.
        #expect(isTold("b", "401", after: 60) && !isTold("c", "401", after: 61) && isTold("c", "401", after: 120))
        #expect(!isTold("a", "401", after: 121) && isTold("a", "401", after: 180))
        for name in ["a", "b"] { #expect(origins.accepted(name) && origins.isStopTold) }
        #expect(origins.accepted("c") && !origins.isStopTold)
        // The clock was set back.
        #expect(isTold("a", "401", after: -3_600))
    }

    @Test func `an origin that is forgotten refuses nothing any more`() {
        var origins = PushOrigins()
        func use(_ name: String) { _ = origins.authorization(for: name, at: WebPushSample.now) { _ in name } }
        use("a")
        #expect(origins.refused("a", because: "403", at: WebPushSample.now) == (true, true) && origins.isStopTold)
        for number in 0..<PushOrigins.most { use("\(number)") }
        #expect(!origins.isStopTold && origins.stopped == 0)
    }

    @Test func `an origin that refuses the key stops, and one message a minute tries another token`() {
        var (origins, made) = (PushOrigins(), 0)
        let now = WebPushSample.now
        func use() {
            _ = origins.authorization(for: "a", at: now) { _ in
                made += 1
                return "\(made)"
            }
        }
        use()
        #expect(origins.pause(of: "a", at: now) == nil)
        let news = (0..<2).map { _ in origins.refused("a", because: "403", at: now).isNew }
        #expect(news == [true, false])
        #expect(origins.stopped == 1 && origins.summary == "a: 403")
        #expect(origins.pause(of: "a", at: now) == 60_000)
        #expect(origins.pause(of: "b", at: now) == nil)
        let later = now.adding(milliseconds: 60_000)
        #expect(origins.pause(of: "a", at: later) == nil)
        #expect(origins.pause(of: "a", at: later) == 60_000)
        use()
        #expect(made == 2)
        origins.tryAll()
        #expect(origins.pause(of: "a", at: now) == nil)
        #expect(!origins.isProven("a"))
        let resumed = [origins.accepted("a"), origins.accepted("a")]
        #expect(resumed == [true, false] && origins.isProven("a"))
        #expect(origins.stopped == 0 && origins.summary == nil)
    }

    @Test func `the file is read, and each mistake is told with its place`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let key = try WebPushSample.key(files)
        let good = WebPushBench.applications(key)
        let applications = try WebPushApplicationsFile.parse(good + "  too-large: refuse\n", of: "w.yaml")
        let shop = try #require(applications["shop"])
        #expect(applications.count == 1 && shop.oversize == .refuse && shop.key.subject == WebPushSample.subject)
        func message(_ text: String) -> String {
            do {
                _ = try WebPushApplicationsFile.parse(text, of: "w.yaml")
                return ""
            } catch { return "\(error)" }
        }
        let rsa = try files.write("-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n", "public.pem")
        let cases: [(String, String)] = [
            (good.replacing("subject: mailto:push@shop.example", with: "subject: shop"), "w.yaml:3: `subject` must be"),
            (good.replacing("https://shop.example/open", with: "javascript:alert(1)"), "w.yaml:4: `navigate` must be"),
            (good.replacing("key-file: \(key)", with: "key-file: \(rsa)"), "has the public key"),
            (good.replacing("key-file: \(key)", with: "key-file: /nowhere"), "/nowhere cannot be read"),
            (good.replacing("subject", with: "subjekt"), "did you mean `subject`?"),
            ("shop: {subject: \"mailto:a@b\"}", "needs `key-file`"),
        ]
        for (text, part) in cases { #expect(message(text).contains(part), "\(message(text))") }
    }

    @Test(arguments: [
        "http://shop.example/", "https://", "https:///x", "https://{target}/", "https://a.b{target}", "https://a/{x}",
    ])
    func `a page is an https URL with nothing but the target in it`(_ text: String) {
        #expect(PageAddress(text) == nil)
    }

    @Test func `a target is encoded, so that it stays within its place`() throws {
        let page = try #require(PageAddress("https://shop.example/open?target={target}&from=push"))
        #expect(page.text(for: "orders/1001") == "https://shop.example/open?target=orders/1001&from=push")
        #expect(page.text(for: "a&b=\"<é\n") == "https://shop.example/open?target=a%26b%3D%22%3C%C3%A9%0A&from=push")
        #expect(page.text(for: nil) == "https://shop.example/open?target=&from=push")
        #expect(PageAddress("https://shop.example")?.text(for: "x") == "https://shop.example")
    }
}
