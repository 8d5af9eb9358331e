import Foundation
import Testing
import TestSupport

/// The page of `carillon local`, as a browser sees it, and as other pages do.
///
/// The folder of `PHONE_PICTURES` gets the pictures of the documentation.
@Suite("The page with phones", .serialized, .disabled(if: Cluster.isReal, "carillon local brings its own broker"))
struct PhonePageTests {
    private static let chromium: String? = try? Tools.program("chromium")

    /// Runs a scenario of `phone_page.py`.
    private static func run(_ scenario: String, _ local: LocalProcess, _ more: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            try Tools.python(),
            [
                Tools.client("phone_page.py"), scenario, try #require(chromium), try local.place("phone"),
                try local.place("http"),
            ] + more,
            keepsInput: true
        )
    }

    @Test(
        "in Chromium a notification is shown, replaced, removed and answered; what is hostile is text; 1,000 are listed",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium"),
        arguments: ["life", "permissions", "hostile", "many", "names"]
    )
    func page(_ scenario: String) async throws {
        let local = try await LocalProcess(["--apns"])
        let page = try Self.run(scenario, local)
        #expect(try await page.ended() == 0, "\(page.lastWords)")
        if scenario == "life" {
            let responses = try await ChildProcess.run(
                try Tools.product("carillon"),
                ["tail", "responses", "--json", "--no-follow", "--bootstrap-servers", try local.place("broker")]
            )
            let texts = responses.outputLines.map { JSONText.member("value.userText", of: Data($0.utf8)) }
            #expect(texts.contains("Yes, <b>please</b>"), "\(responses.outputText)")
        }
        await local.child.end()
    }

    @Test(
        "in Chromium the phones have recipient tokens where the services ask for tokens",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func tokens() async throws {
        let folder = try TemporaryFolder()
        let secret = Data(repeating: 7, count: 32).base64EncodedString()
        let keys = try folder.write("default phones HS256 \(secret)\n", to: "keys")
        let tokens = try folder.write("publish,query * a-token-of-the-operator\n", to: "tokens")
        let local = try await LocalProcess(
            ["--apns"],
            environment: [
                "CARILLON_HTTP_RECIPIENT_KEYS_FILE": keys, "CARILLON_HTTP_TOKENS_FILE": tokens,
                "CARILLON_HTTP_TOKEN": "a-token-of-the-operator",
            ]
        )
        let page = try Self.run("tokens", local)
        #expect(try await page.ended() == 0, "\(page.lastWords)")
        await local.child.end()
    }

    @Test(
        "in Chromium the page goes on when the services and the simulators have begun again",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func restart() async throws {
        let holder = try ChildProcess(try Tools.python(), [Tools.client("free_ports.py"), "1"])
        #expect(try await holder.ended() == 0, "\(holder.lastWords)")
        let address = "127.0.0.1:\(try #require(holder.outputLines.first))"
        let former = try await LocalProcess(["--apns", "--phone", address])
        let page = try Self.run("restart", former)
        try await eventually("it is time", orSay: { page.lastWords }) {
            guard page.isRunning else { throw ChildProcess.Failure(description: page.lastWords) }
            return page.outputLines.contains("restart")
        }
        await former.child.end()
        let next = try await LocalProcess(["--apns", "--phone", address])
        try page.write(try next.place("http"))
        #expect(try await page.ended() == 0, "\(page.lastWords)")
        await next.child.end()
    }

    @Test(
        "in Chromium a picture is that of the media store",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func media() async throws {
        let folder = try TemporaryFolder()
        let holder = try ChildProcess(try Tools.python(), [Tools.client("free_ports.py"), "1"])
        #expect(try await holder.ended() == 0, "\(holder.lastWords)")
        let host = try ChildProcess(try Tools.python(), [Tools.client("media.py"), "whsec_AAAA"], keepsInput: true)
        try await eventually("the host of media listens", orSay: { host.lastWords }) { !host.outputLines.isEmpty }
        let port = JSONText.member("port", of: Data(try #require(host.outputLines.first).utf8))
        let origin = "http://127.0.0.1:\(try #require(port))"
        let local = try await LocalProcess(
            ["--apns"],
            environment: [
                "CARILLON_ENRICHMENT_ENABLED": "true", "CARILLON_MEDIA_DIRECTORY": folder.path,
                "CARILLON_EGRESS_INTERNAL_ORIGINS": origin, "CARILLON_QUERIES_ENABLED": "true",
                "CARILLON_QUERIES_PORT": String(try #require(holder.outputLines.first)),
            ]
        )
        let page = try Self.run("media", local, ["\(origin)/photo.png"])
        #expect(try await page.ended() == 0, "\(page.lastWords)\n\(local.child.lastWords)")
        for child in [local.child, host] { await child.end() }
    }

    @Test(
        "in Chromium carillon phone serves the page for services of another process",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func elsewhere() async throws {
        let local = try await LocalProcess(["--apns"])
        let phone = try ChildProcess(
            try Tools.product("carillon"),
            [
                "phone", "--listen", "127.0.0.1:0", "--apns", try local.place("apns"), "--url", try local.place("http"),
                "--queries-url", try local.place("queries"), "--bootstrap-servers", try local.place("broker"),
            ]
        )
        try await eventually("the page is served", orSay: { phone.lastWords }) { !phone.outputLines.isEmpty }
        let url = try #require(phone.outputLines.first?.split(separator: " ").last.map(String.init))
        let page = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("phone_page.py"), "elsewhere", try #require(Self.chromium), url, try local.place("http"),
            ]
        )
        #expect(try await page.ended() == 0, "\(page.lastWords)\n\(phone.lastWords)")
        phone.signal(SIGTERM)
        #expect(try await phone.ended() == 0, "\(phone.lastWords)")
        await local.child.end()
    }

    @Test(
        "in Chromium it is drawn light and dark",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func pictures() async throws {
        let local = try await LocalProcess(["--apns"])
        let folder = ProcessInfo.processInfo.environment["PHONE_PICTURES"]
        let page = try Self.run("pictures", local, folder.map { [$0] } ?? [])
        #expect(try await page.ended() == 0, "\(page.lastWords)")
        await local.child.end()
    }

    @Test("the whole life of a notification is a page of its own, of the file and of the page with phones alike")
    func life() async throws {
        let local = try await LocalProcess()
        let (page, folder) = (try local.place("phone"), try TemporaryFolder())
        let path = "v1/recipients/ana/notifications/%3Cb%3E1/explain"
        let put = try await Curl.send(
            "PUT",
            "\(try local.place("http"))/v1/recipients/ana/notifications/%3Cb%3E1",
            headers: [("content-type", "application/json")],
            body: Data(#"{"content":{"title":"<script>alert(1)</script>"}}"#.utf8)
        )
        #expect(put.status == 202)
        var answer = try await Curl.send("GET", page + path)
        try await eventually("it is delivered", orSay: { "\(answer.status): \(answer.text)" }) {
            answer = try await Curl.send("GET", page + path)
            return answer.status == 200 && answer.text.contains(">delivered<")
        }
        #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(
            policy.hasPrefix("default-src 'none'; style-src 'sha256-") && policy.hasSuffix("frame-ancestors 'none'")
        )
        #expect(!answer.text.contains("<script") && !answer.text.contains("<b>"))
        #expect(try await Curl.send("GET", page + path, headers: [("sec-fetch-site", "cross-site")]).status == 403)
        #expect(try await Curl.send("GET", page + path + "?application=bank").status == 404)

        let file = folder.file("life.html")
        let written = try await ChildProcess.run(
            try Tools.product("carillon"),
            ["explain", "ana", "<b>1", "--html", file, "--bootstrap-servers", try local.place("broker")]
        )
        #expect(written.outputText.isEmpty)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("&lt;script&gt;alert(1)") && text.contains(">delivered<"))
        await local.child.end()
    }

    @Test("other pages and other names get nothing, and the page's own files let nothing else in")
    func others() async throws {
        let local = try await LocalProcess()
        let page = try local.place("phone")
        func call(_ method: String, _ path: String, _ headers: [(String, String)], _ body: String? = nil) async throws
            -> HTTPAnswer
        {
            try await Curl.send(method, page + path, headers: headers, body: body.map { Data($0.utf8) })
        }
        let json = ("content-type", "application/json")
        let origin = String(page.dropLast())
        #expect(try await call("GET", "v1/setup", []).status == 200)
        #expect(try await call("GET", "v1/setup", [("host", "evil.example")]).status == 403)
        #expect(try await call("GET", "v1/setup", [("sec-fetch-site", "cross-site")]).status == 403)
        #expect(try await call("GET", "v1/stream", [("sec-fetch-site", "same-site")]).status == 403)
        let phone = "v1/phones/fcm/ana/pixel"
        for headers in [[("content-type", "text/plain")], [json, ("origin", "http://localhost:1")], []] {
            let answer = try await call("POST", phone, headers, "{}")
            #expect([403, 415].contains(answer.status), "\(headers): \(answer.text)")
        }
        #expect(try await call("POST", phone, [json, ("origin", origin)], "{}").status == 201)
        #expect(try await call("DELETE", phone, [("origin", "http://localhost:1")]).status == 403)
        #expect(try await call("DELETE", phone, [("origin", origin)]).status == 204)
        #expect(try await call("POST", "v1/phones/none/ana/pixel", [json], "{}").status == 404)

        let index = try await Curl.send("GET", page)
        #expect(index.headers["content-security-policy"]?.contains("default-src 'none'; script-src 'self'") == true)
        #expect(!index.headers.keys.contains { $0.hasPrefix("access-control-") })
        #expect(!index.text.contains("<script>") && !index.text.contains("onclick"))
        let refused = try ChildProcess(
            try Tools.product("carillon"),
            ["local", "--phone", "0.0.0.0:0"]
        )
        #expect(try await refused.ended() == 64, "\(refused.lastWords)")
        await local.child.end()
    }
}
