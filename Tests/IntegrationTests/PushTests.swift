import Foundation
import Testing
import TestSupport

/// `carillon push` against a server that plays APNs, in Python: it verifies the provider token with PyJWT.
@Suite("One push from the command line, against a server that plays APNs", .serialized)
struct PushTests {
    private static let token = String(repeating: "0a", count: 32)

    private struct End {
        var status: Int32
        var output: String
        var errors: String
    }

    /// The server, and the files that it wrote.
    private final class Desk {
        let folder: TemporaryFolder
        let apns: ChildProcess
        private var port = 0

        init() throws {
            folder = try TemporaryFolder()
            apns = try ChildProcess(
                try Tools.python(),
                [Tools.client("apns.py"), "--ca", folder.file("ca.pem"), "--key", folder.file("AuthKey_ABC123DEFG.p8")]
            )
        }

        func start() async throws {
            try await eventually("the server that plays APNs listens", orSay: { self.apns.lastWords }) {
                let first = apns.outputLines.first.flatMap { JSONText.member("port", of: Data($0.utf8)) }
                port = first.flatMap { Int($0) } ?? 0
                return port > 0
            }
        }

        func push(_ token: String, _ arguments: [String], key: String = "AuthKey_ABC123DEFG.p8") async throws -> End {
            let child = try ChildProcess(
                try Tools.product("carillon"),
                [
                    "push", token, "--bundle-identifier", "com.example.shop", "--key", folder.file(key), "--team-id",
                    "DEF123GHIJ", "--url", "https://127.0.0.1:\(port)", "--ca", folder.file("ca.pem"), "--timeout",
                    "60s",
                ] + arguments
            )
            let status = try await child.ended()
            return End(status: status, output: child.outputText, errors: child.errorText)
        }

        /// What the server got last.
        func last() throws -> [String: Any] {
            let line = try #require(apns.outputLines.last)
            return try #require(JSONText.object(Data(line.utf8)))
        }
    }

    @Test("a push arrives with its headers and payload, and the answer is explained")
    func push() async throws {
        let desk = try Desk()
        do {
            try await desk.start()
            try await play(desk)
        } catch {
            Issue.record(error, "\(desk.apns.lastWords)")
        }
        await desk.apns.end()
    }

    private func play(_ desk: Desk) async throws {
        // Its first push finds the provider token expired; only one that PyJWT has verified does.
        let expired = try await desk.push(Self.token, ["--title", "T"])
        #expect(expired.status == 1 && expired.output.hasPrefix("403 ExpiredProviderToken: "), "\(expired)")
        #expect(expired.output.contains("then: sent once more with a new provider token, on another connection"))

        let spaced = "<" + Array(repeating: "0A0A0A0A", count: 8).joined(separator: " ") + ">"
        let id = "0d8f4e6c-0000-4000-8000-00000000000f"
        let accepted = try await desk.push(
            spaced,
            [
                "--title", "中文 😀", "--body", String(repeating: "é", count: 3000), "--collapse-id", "order-1", "--id",
                id,
                "--expiration", "15m", "--priority", "5",
            ]
        )
        #expect(accepted.status == 0, "\(accepted)")
        #expect(accepted.output.contains("changed: body-shortened\n200 accepted\napns-id: \(id)\nthen: APNs has it"))
        let got = try desk.last()
        #expect(got["token"] as? String == Self.token && got["status"] as? Int == 200)
        let headers = try #require(got["headers"] as? [String: String])
        #expect(headers["apns-id"] == id && headers["apns-collapse-id"] == "order-1")
        #expect(headers["apns-priority"] == "5" && headers["apns-topic"] == "com.example.shop")
        #expect(headers["apns-expiration"].flatMap { Int($0) } ?? 0 > 1_795_000_000)
        let alert = ((got["payload"] as? [String: Any])?["aps"] as? [String: Any])?["alert"] as? [String: Any]
        #expect(alert?["title"] as? String == "中文 😀")
        #expect((alert?["body"] as? String)?.hasSuffix("é…") == true)

        let payload = try desk.folder.write(#"{"aps":{"content-available":1},"refresh":true}"#, to: "payload.json")
        let silent = try await desk.push(Self.token, ["--payload", payload, "--json"])
        #expect(silent.status == 0, "\(silent)")
        #expect(JSONText.member("status", of: Data(silent.output.utf8)) == "200")
        #expect(JSONText.member("content.userInfo.refresh", of: Data(silent.output.utf8)) == "true")

        let gone = try await desk.push("dead" + Self.token.dropFirst(4), ["--title", "T"])
        #expect(gone.status == 1 && gone.output.hasPrefix("410 Unregistered: ") && gone.output.contains("\nsince: 20"))
        let other = try await desk.push("bad0" + Self.token.dropFirst(4), ["--title", "T"])
        #expect(other.status == 1 && other.output.contains("then: the other environment is tried once"), "\(other)")
        let busy = try await desk.push("b057" + Self.token.dropFirst(4), ["--title", "T"])
        #expect(
            busy.status == 1 && busy.output.contains("503 ServiceUnavailable")
                && busy.output.contains("then: sent again later")
        )

        _ = try await ChildProcess.run(
            try Tools.program("openssl"),
            [
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                desk.folder.file("AuthKey_ABC123DEFH.p8"),
            ]
        )
        let stranger = try await desk.push(Self.token, ["--title", "T"], key: "AuthKey_ABC123DEFH.p8")
        #expect(stranger.status == 1 && stranger.output.contains("403 InvalidProviderToken"), "\(stranger)")

        // Nothing that breaks a rule is sent, unless one wants to see the answer.
        let pushes = desk.apns.outputLines.count
        let wrong = ["--payload", payload, "--push-type", "background", "--priority", "10"]
        let kept = try await desk.push(Self.token, wrong)
        #expect(kept.status == 65 && kept.output.contains("refused: apns-priority"), "\(kept)")
        #expect(desk.apns.outputLines.count == pushes)
        let forced = try await desk.push(Self.token, wrong + ["--force"])
        #expect(forced.status == 1 && forced.output.contains("400 InvalidPushType"), "\(forced)")
        let dry = try await desk.push(Self.token, ["--title", "T", "--dry-run"])
        #expect(dry.status == 0 && dry.output.contains(#"{"aps":{"alert":{"title":"T"}}}"#), "\(dry)")
        #expect(desk.apns.outputLines.count == pushes + 1)
        for end in [expired, accepted, silent, stranger, dry] {
            #expect(!(end.output + end.errors).contains("eyJ"), "a provider token is shown")
        }
    }

    @Test("where nobody answers, and where the certificate is another one, the status is 69")
    func noAnswer() async throws {
        let desk = try Desk()
        try await desk.start()
        let trusting = try await desk.push(Self.token, ["--title", "T", "--ca", "/etc/hostname"])
        #expect(trusting.status == 66 && trusting.errors.contains("--ca: /etc/hostname"), "\(trusting)")
        await desk.apns.end()
        let gone = try await desk.push(Self.token, ["--title", "T", "--timeout", "2s"])
        #expect(gone.status == 69 && gone.errors.contains("no answer, it has not arrived"), "\(gone)")
    }
}
