import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Who may call the API, and how long.
extension ServiceScenarios {
    @Test("with tokens and TLS it serves only callers with a token, and disconnects callers that are too slow")
    func access() async throws {
        let stack = try Stack.shared()
        let own = stack.recipient("tls")
        let folder = try TemporaryFolder()
        let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
        _ = try await ChildProcess.run(
            try Tools.program("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                certificate,
            ]
        )
        let token = "scenario-0123456789-\(UUID().uuidString)"
        let weak = "weak-\(token)"
        // A second producer service, without rules: it processes no events.
        var settings = ServiceProcess.settings(stack.cluster, deployment: stack.deployment)
        settings["CARILLON_APPLICATION_DEFAULT"] = "shop"
        settings["CARILLON_HTTP_PORT"] = "0"
        settings["CARILLON_HTTP_HOST"] = "0.0.0.0"
        settings["CARILLON_HTTP_TLS_CERTIFICATE"] = certificate
        settings["CARILLON_HTTP_TLS_KEY"] = key
        settings["CARILLON_HTTP_TOKENS_FILE"] = try folder.write("publish \(token)\nquery \(weak)\n", to: "tokens")
        settings["CARILLON_HTTP_RECEIVE_TIMEOUT"] = "3s"
        settings["CARILLON_LOG_LEVEL"] = "debug"
        let program = try ChildProcess(try Tools.product("carillon-producer"), environment: settings)
        let producer = ServiceProcess(program)
        do {
            let root = "https://localhost:\(try await producer.port("HTTP API listens"))"
            func put(_ token: String?, body: Data = Data(#"{"content":{"title":"T"}}"#.utf8), _ options: String...)
                async throws
                -> HTTPAnswer
            {
                try await Curl.send(
                    "PUT",
                    "\(root)/v1/recipients/\(own)/notifications/a",
                    headers: [("content-type", "application/json")]
                        + (token.map { [("authorization", "Bearer \($0)")] } ?? []),
                    body: body,
                    options: ["--cacert", certificate] + options
                )
            }
            let missing = try await put(nil)
            #expect(missing.status == 401, "\(missing.text)")
            #expect(missing.headers["www-authenticate"] == "Bearer")
            #expect(try await put("\(token)x").status == 401)
            #expect(try await put(weak).status == 403)
            let accepted = try await put(token)
            #expect(accepted.status == 202, "\(accepted.text)")
            _ = try await stack.event("delivered", own, "a")
            // curl asks before it sends so much, and need not send it.
            let large = try await put(
                token,
                body: Data(repeating: 0x20, count: 20_000_000),
                "--header",
                "expect: 100-continue"
            )
            #expect(large.status == 413, "\(large.text)")
            let slow = try await put(token, body: Data(repeating: 0x20, count: 200_000), "--limit-rate", "2000")
            #expect(slow.status == 408, "\(slow.text)")
            #expect(slow["reason"] == "receive-timeout")

            let metrics = try await producer.metrics
            for line in [
                #"carillon_http_refused_total{reason="unauthenticated"} 2"#,
                #"carillon_http_refused_total{reason="forbidden"} 1"#,
                #"carillon_http_refused_total{reason="too-large"} 1"#,
                #"carillon_http_refused_total{reason="receive-timeout"} 1"#,
                #"carillon_http_connections_cut_total{cause="receive-timeout"} 1"#,
                #"carillon_http_requests_total{status="202"} 1"#, "carillon_http_connections ",
            ] {
                #expect(metrics.contains(line), "\(line) is not in\n\(metrics)")
            }
            #expect(!producer.child.errorText.contains(token), "a token is in the log")
            producer.child.signal(SIGTERM)
            #expect(try await producer.child.ended() == 0, "\(producer.child.lastWords)")
        } catch {
            Issue.record(error, "\(producer.child.lastWords)")
        }
        await producer.child.end()
    }

    @Test("an API that others could reach does not start without tokens, nor with half of TLS")
    func closed() async throws {
        let stack = try Stack.shared()
        for (variables, key) in [
            (["CARILLON_HTTP_HOST": "0.0.0.0"], "http.host"),
            (["CARILLON_HTTP_TLS_KEY": "/nowhere"], "http.tls.certificate"),
            (["CARILLON_HTTP_TOKENS_FILE": "/nowhere"], "http.tokens.file"),
        ] {
            let settings = ServiceProcess.settings(stack.cluster, deployment: stack.deployment)
            let child = try ServiceProcess.producer(settings.merging(variables) { $1 }, deployment: "closed").child
            #expect(try await child.ended() == 78, "\(child.lastWords)")
            #expect(child.errorText.contains("\(key): "), "\(child.lastWords)")
            await child.end()
        }
    }
}
