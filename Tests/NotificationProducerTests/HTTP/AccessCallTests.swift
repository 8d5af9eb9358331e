import Foundation
import HTTPTesting
import Logging
import NotificationModel
import ServiceHTTP
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Calls with tokens", .timeLimit(.minutes(10)))
struct AccessCallTests {
    private static let publisher = "publisher-0123456789"
    private static let reader = "reader-0123456789"
    private static let admin = "admin-0123456789"
    private static var tokens: String {
        """
        publish \(publisher)
        query \(reader)
        admin sha256:2e7be15905a9943e2dec6e3c52adc71e68a261be419c75a98812d47a5a60d10e
        """
    }

    private static let body = Array(#"{"content":{"body":"x"}}"#.utf8)

    private func call(
        _ harness: ProducerHarness,
        _ authorization: String?,
        _ method: String = "PUT",
        _ target: String = "/v1/recipients/u/notifications/i"
    ) async throws -> RawHTTP.Answer {
        let headers = [("content-type", "application/json")] + (authorization.map { [("authorization", $0)] } ?? [])
        return try await harness.http.send(method, target, headers: headers, body: Self.body)
    }

    @Test("Calls without a valid token are rejected for every path, without further information")
    func unauthenticated() async throws {
        try await ProducerHarness.with(tokens: Self.tokens) { harness in
            let calls = [
                ("PUT", "/v1/recipients/u/notifications/i"), ("POST", "/v1/recipients/u/notifications"),
                ("DELETE", "/v1/recipients/u/notifications"), ("POST", "/v1/events"), ("GET", "/v1/events"),
                ("GET", "/nowhere"),
            ]
            let wrong = [
                "", "Bearer", "Bearer nobody-0123456789", "Basic \(Self.publisher)", "Bearer \(Self.publisher)x",
            ]
            for (method, target) in calls {
                let missing = try await call(harness, nil, method, target)
                #expect(missing.status == 401, "\(method) \(target): \(missing.text)")
                #expect(missing.headers["www-authenticate"] == "Bearer")
                for authorization in wrong + ["Bearer \(String(repeating: "x", count: 20_000))"] {
                    let answer = try await call(harness, authorization, method, target)
                    #expect(answer.status == 401, "\(method) \(target): \(answer.text)")
                    #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                    #expect(answer.headers["content-type"] == "application/problem+json")
                    #expect(answer["reason"] == "unauthenticated")
                    #expect(answer["field"] == "authorization")
                    #expect(!answer.text.contains("0123456789"))
                }
            }
        }
    }

    @Test("A role that is too low gets 403, a sufficient one is accepted, and admin includes all")
    func roles() async throws {
        try await ProducerHarness.with(tokens: Self.tokens) { harness in
            let weak = try await call(harness, "Bearer \(Self.reader)")
            #expect(weak.status == 403, "\(weak.text)")
            #expect(weak["reason"] == "forbidden")
            #expect(weak.headers["www-authenticate"]?.contains("scope=\"publish\"") == true)
            #expect(try await call(harness, "Bearer \(Self.reader)", "GET", "/nowhere").status == 404)
            #expect(try await call(harness, "Bearer \(Self.reader)", "GET").status == 405)
            for token in [Self.publisher, Self.admin] {
                #expect(try await call(harness, "Bearer \(token)").status == 202)
                #expect(try await call(harness, "bearer \(token)", "DELETE").status == 202)
            }
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 4).count == 4)
        }
    }

    @Test("Without tokens only names of this machine are accepted, also against DNS rebinding")
    func foreignHost() async throws {
        func answer(_ harness: ProducerHarness, _ host: String?, version: String = "1.1") async throws -> RawHTTP.Answer
        {
            let field = host.map { "host: \($0)\r\n" } ?? ""
            let head = "DELETE /v1/recipients/u/notifications/i HTTP/\(version)\r\n\(field)connection: close\r\n\r\n"
            return try await harness.http.exchange(Array(head.utf8))
        }
        let own = [
            "localhost", "LocalHost:8080", "127.0.0.1", "127.1.2.3:9", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]",
        ]
        let foreign = [
            "example.com", "localhost.example.com", "127.0.0.1.example.com:8080", "10.0.0.1", "[::2]", "", "0.0.0.0",
        ]
        try await ProducerHarness.with { harness in
            for host in own { #expect(try await answer(harness, host).status == 202, "\(host)") }
            for host in foreign {
                let refused = try await answer(harness, host)
                #expect(refused.status == 403, "\(host): \(refused.text)")
                #expect(refused["reason"] == "forbidden")
                #expect(refused["field"] == "host")
                #expect(refused["detail"]?.contains("http.tokens.file") == true, "it says what to do")
            }
            // The host of the target counts, not the Host field.
            for (named, host, status) in [
                ("localhost", "example.com", 202), ("127.0.0.1:9", "localhost", 202), ("example.com", "localhost", 403),
            ] {
                let target = "http://\(named)/v1/recipients/u/notifications/i"
                let head = "DELETE \(target) HTTP/1.1\r\nhost: \(host)\r\nconnection: close\r\n\r\n"
                #expect(try await harness.http.exchange(Array(head.utf8)).status == status, "\(named) \(host)")
            }
            // No browser uses HTTP/1.0.
            #expect(try await answer(harness, nil, version: "1.0").status == 202)
            #expect(try await answer(harness, nil).status == 400)
        }
        try await ProducerHarness.with(tokens: Self.tokens) { harness in
            for host in own + foreign {
                let refused = try await answer(harness, host)
                #expect(refused.status == 401, "\(host): \(refused.text)")
            }
        }
    }

    // MARK: The start

    @Test("The log names files of tokens and keys that every user can read, with the remedy")
    func exposed() throws {
        try withFiles { files in
            let tokens = try files.write(Self.tokens, "tokens")
            let identity = try files.certificate("one")
            for (mode, isExposed) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
                for file in [tokens, identity.key] {
                    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                }
                let log = CollectedLog(from: .info)
                var configuration = ProducerServiceConfiguration(bootstrapServers: ["127.0.0.1:1"])
                configuration.http.tokensFile = tokens
                (configuration.http.tlsCertificate, configuration.http.tlsKey) = (identity.certificate, identity.key)
                _ = try ProducerService(configuration: configuration, health: Health(), logger: log.logger)
                let warnings = log.lines.filter { $0.hasPrefix("warning: ") && $0.contains("chmod") }
                #expect(warnings.count == (isExposed ? 2 : 0), "\(mode): \(warnings)")
                for (file, warning) in zip([tokens, identity.key], warnings) { #expect(warning.contains(file)) }
            }
        }
    }

    @Test("TLS 1.2 requires forward secrecy and authenticated encryption")
    func ciphers() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        // A key of RSA would allow both kinds of cipher suites.
        let identity = try files.certificate("rsa", key: ["-newkey", "rsa:2048"])
        try await ProducerHarness.with {
            ($0.http.tlsCertificate, $0.http.tlsKey) = (identity.certificate, identity.key)
        } _: { harness in
            func cipher(_ options: String) async throws -> String {
                let command =
                    "openssl s_client -connect 127.0.0.1:\(harness.http.port) \(options) </dev/null 2>&1 || true"
                let said = try await files.runAside("sh", ["-c", command])
                let line = said.split(separator: "\n").first { $0.contains("Cipher is") } ?? "\(said)"[...]
                return String(line.split(separator: " ").last ?? "")
            }
            for name in [
                "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
            ] {
                let spoken = try await cipher("-tls1_2 -cipher \(name)")
                #expect(spoken == name)
            }
            for name in [
                "AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", "ECDHE-RSA-AES128-SHA",
                "ECDHE-RSA-AES256-SHA",
            ] {
                let spoken = try await cipher("-tls1_2 -cipher \(name):@SECLEVEL=0")
                #expect(spoken == "(NONE)", "\(name)")
            }
            let old = try await cipher("-tls1_1 -cipher ALL:@SECLEVEL=0")
            #expect(old == "(NONE)")
            let new = try await cipher("-tls1_3")
            #expect(new.hasPrefix("TLS_"))
        }
    }

    @Test("An invalid listener prevents the start, and the error names the setting")
    func listener() throws {
        func refused(_ key: String, _ change: (inout ProducerServiceConfiguration) -> Void) {
            var configuration = ProducerServiceConfiguration(bootstrapServers: ["127.0.0.1:1"])
            change(&configuration)
            let error = #expect(throws: ListenerSettingsError.self) {
                _ = try ProducerService(configuration: configuration, health: Health(), logger: Logger(label: "test"))
            }
            #expect(error?.key == key, "\(String(describing: error))")
        }
        refused("http.host") { $0.http.host = "0.0.0.0" }
        refused("http.tokens.file") { $0.http.tokensFile = "/nowhere/tokens" }
        refused("http.tls.key") { $0.http.tlsCertificate = "/nowhere/certificate" }
        refused("http.tls.certificate") { $0.http.tlsKey = "/nowhere/key" }
    }

    @Test("A TLS listener answers no plain HTTP, disconnects slow handshakes, and keeps serving")
    func brokenTLS() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let identity = try files.certificate("server")
        try await ProducerHarness.with {
            ($0.http.tlsCertificate, $0.http.tlsKey) = (identity.certificate, identity.key)
            $0.http.receiveTimeout = .seconds(2)
        } _: { harness in
            let plain = try await RawConnection.open(port: harness.http.port)
            await plain.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            #expect(await !String(decoding: plain.end(), as: UTF8.self).contains("HTTP/1.1"))
            // The beginning of a handshake record that announces 512 bytes.
            let slow = try await RawConnection.open(port: harness.http.port)
            await slow.send([22, 3, 1, 2, 0, 1])
            try await slow.drip(0)
            _ = await slow.end()
            let status = try await files.runAside(
                "curl",
                [
                    "--silent", "--cacert", identity.certificate, "--output", "/dev/null", "--write-out",
                    "%{http_code}",
                    "https://localhost:\(harness.http.port)/nowhere",
                ]
            )
            #expect(status == "404")
        }
    }

    private func withFiles(_ body: (TestFiles) throws -> Void) throws {
        let files = try TestFiles()
        defer { files.remove() }
        try body(files)
    }
}
