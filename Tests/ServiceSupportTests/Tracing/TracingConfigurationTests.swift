import OutboundHTTP
import ServiceHTTP
import Testing

@testable import ServiceSupport

/// The settings of tracing, and what follows an export.
@Suite("The settings and the retries of tracing")
struct TracingConfigurationTests {
    private static func read(_ yaml: String) throws -> TracingConfiguration {
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        let configuration = TracingConfiguration(settings: &settings)
        try settings.finish()
        return configuration
    }

    /// What a start says of settings that are wrong.
    private static func refusal(_ yaml: String) -> String {
        do {
            _ = try read(yaml)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("without an endpoint nothing is traced; an endpoint without a path is that of a collector")
    func endpoint() throws {
        #expect(try Self.read("{}").collector == nil)
        let own = try Self.read("tracing: {endpoint: 'http://otel:4318', ratio: 0.25}")
        #expect(own.collector?.url.text == "http://otel:4318/v1/traces" && own.ratio == 0.25)
        let whole = try Self.read("tracing: {endpoint: 'https://otel.example.com/otlp/v1/traces?tenant=a'}")
        #expect(whole.collector?.url.text == "https://otel.example.com/otlp/v1/traces?tenant=a")
        #expect(whole.collector?.fields.isEmpty == true)
    }

    @Test(
        "wrong settings are refused with their key",
        arguments: [
            ("{endpoint: 'otel:4318'}", "tracing.endpoint"), ("{endpoint: 'ftp://otel/'}", "tracing.endpoint"),
            ("{endpoint: 'http://user:geheim@otel/'}", "tracing.endpoint"), ("{ratio: 1.5}", "tracing.ratio"),
            ("{ratio: nan}", "tracing.ratio"), ("{ratio: -0.1}", "tracing.ratio"), ("{ratio: half}", "tracing.ratio"),
            ("{endpoint: 'http://otel/', headers: {file: /nowhere/at/all}}", "tracing.headers.file"),
            ("{endpoint: 'https://otel/', ca: {file: /nowhere/at/all}}", "tracing.ca.file"),
        ]
    )
    func wrong(_ settings: String, _ key: String) {
        let refusal = Self.refusal("tracing: \(settings)")
        #expect(refusal.contains(key) && !refusal.contains("geheim"), "\(refusal)")
    }

    @Test("the file of header fields is read line by line, and its errors show no secret")
    func headers() throws {
        let fields = try TracingConfiguration.fields(
            of: "# a comment\n\nAuthorization: Bearer geheim\r\nx-tenant:  a b \n"
        )
        #expect(fields.map(\.0) == ["authorization", "x-tenant"] && fields.map(\.1) == ["Bearer geheim", "a b"])
        for (text, what) in [
            ("Authorization Bearer geheim", "number 1"), ("x-a: 1\n: geheim", "number 2"), ("x-a: gehéim", "number 1"),
            ("x-a:", "number 1"), ("Host: geheim", "host"), ("content-length: 1", "content-length"),
        ] {
            do {
                _ = try TracingConfiguration.fields(of: text)
                Issue.record("accepted: \(text)")
            } catch {
                #expect(error.text.contains(what) && !error.text.contains("geheim"), "\(error.text)")
            }
        }
    }

    @Test("an export is tried again after 429, 502, 503, 504 and failures, and after no other answer")
    func retried() {
        func step(_ answer: ExportPlan.Answer) -> ExportPlan.Step {
            var plan = ExportPlan()
            return plan.step(after: answer, elapsed: .zero, jitter: 0)
        }
        for status in [200, 202, 204] as [UInt] { #expect(step(.status(status, retryAfter: nil)) == .done) }
        for status in [429, 502, 503, 504] as [UInt] {
            #expect(step(.status(status, retryAfter: nil)) == .retry(after: .milliseconds(500)))
            #expect(step(.status(status, retryAfter: .seconds(7))) == .retry(after: .seconds(7)))
            // Longer than any of its spans is worth.
            #expect(step(.status(status, retryAfter: .seconds(60))) == .giveUp("status \(status)"))
        }
        for status in [301, 400, 401, 404, 413, 500, 501] as [UInt] {
            #expect(step(.status(status, retryAfter: .seconds(1))) == .giveUp("status \(status)"))
        }
        #expect(step(.failure("not-connected")) == .retry(after: .milliseconds(500)))
    }

    @Test("pauses double, half of each is random, and all attempts take a minute at most")
    func pauses() {
        for jitter in [0, 0.5, 0.999] {
            var (plan, elapsed) = (ExportPlan(), Duration.zero)
            var pauses: [Duration] = []
            while case .retry(let pause) = plan.step(after: .failure("away"), elapsed: elapsed, jitter: jitter) {
                pauses.append(pause)
                elapsed += pause
            }
            #expect(elapsed < ExportPlan.longest && (5...9).contains(pauses.count), "\(pauses)")
            #expect(pauses.first == .milliseconds(500) + .milliseconds(500) * jitter)
            #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        }
    }
}
