import Foundation
import NotificationChannels
import Testing

@testable import CarillonBench

@Suite("The benchmark of the channel webhook")
struct WebhookBenchmarkTests {
    private static func lines(_ text: String...) -> [Nginx.Line] { text.compactMap { Nginx.Line($0) } }

    // MARK: - The log of the endpoint

    @Test("a line has the status, the length of the request, and the id of its event")
    func line() throws {
        let line = try #require(Nginx.Line("204 873 12345678-9abc-5def-8000-000000000001"))
        #expect(line.status == 204 && line.length == 873 && line.id == "12345678-9abc-5def-8000-000000000001")
        #expect(Nginx.Line("503 400 -")?.id == "")
        // The last one while it is being written.
        for text in ["", "204", "204 873", "204 - a", "204 1 a b"] { #expect(Nginx.Line(text) == nil, "\(text)") }
    }

    @Test("notifications are counted once by their ids; refused and unnamed requests do not count")
    func tally() {
        let tally = DrainBenchmark.Tally(
            Self.lines("503 9 a", "503 9 b", "204 9 a", "204 9 b", "204 9 a", "204 9 a", "503 9 b", "204 9 -")
        )
        #expect(tally.accepted == 2 && tally.repeated == 2)
    }

    @Test("what is not accepted is lost in the report")
    func lost() throws {
        let result = DrainBenchmark.Result(
            notifications: 5,
            tally: .init(Self.lines("204 9 a", "204 9 b", "204 9 b")),
            requestsDuringOutage: 84,
            outageSeconds: 20,
            seconds: 3
        )
        struct JSON: Decodable {
            struct Drain: Decodable {
                var notifications: Int
                var lost: Int
                var repeated: Int
                var outage_requests: Int
            }

            var drain: Drain
        }
        let report = Report(benchmark: "webhook", workloads: [Workload(name: "5", parts: [result.row])])
        let drain = try JSONDecoder().decode(JSON.self, from: Data(report.json().utf8)).drain
        #expect(drain.notifications == 5 && drain.lost == 3 && drain.repeated == 1 && drain.outage_requests == 84)
    }

    @Test("an outage may cost the requests in progress, the failures that open the breaker, and a test per pause")
    func bound() {
        let webhook = WebhookConfiguration()
        let first = webhook.connections + webhook.breakerFailures + 1
        #expect(DrainBenchmark.mostRequests(in: 0) == first)
        let pause = webhook.breakerFirstPause / .seconds(1)
        #expect(DrainBenchmark.mostRequests(in: pause * 10) == first + 10)
    }

    // MARK: - What is sent

    @Test("nginx has one process and one worker on loopback, and keeps connections for all requests")
    func configuration() {
        let plain = Nginx.configuration(.plain, port: 8_099, folder: "/tmp/a")
        for text in [
            "master_process off;", "worker_processes 1;", "listen 127.0.0.1:8099 ", "return 204;", "access_log off;",
        ] { #expect(plain.contains(text), "\(text)") }
        #expect(!plain.contains("return 503") && !plain.contains("$http_ce_id"))
        let logging = Nginx.configuration(.logging, port: 8_099, folder: "/tmp/a")
        #expect(logging.contains("access_log /tmp/a/requests ") && logging.contains("-f /tmp/a/refuse"))
    }

    @Test("nginx takes the place of push services, which have TLS and a hundred streams of a connection")
    func places() throws {
        let json = Nginx.configuration(.json(#"{"a":1}"#), port: 8_099, folder: "/tmp/a")
        #expect(json.contains(#"return 200 '{"a":1}';"#) && !json.contains("ssl"))
        let certificate = TestCertificate(certificate: "/tmp/c", key: "/tmp/k")
        let mode = Nginx.Mode.answering("return 201 '';", port: 8_100, certificate)
        let push = Nginx.configuration(mode, port: 8_099, folder: "/tmp/a")
        for text in [
            "listen 127.0.0.1:8100 ssl http2 ", "ssl_certificate /tmp/c;", "http2_max_concurrent_streams 100;",
            "location / { return 201 ''; }", "stub_status;",
        ] { #expect(push.contains(text), "\(text)") }
    }

    @Test("requests of a workload with different identifiers have as many, whatever their number")
    func distinct() {
        for records in [1, 7_919, 15_838, 20_000] {
            let workload = RequestWorkload(distinct: records, partitions: 4)
            #expect(Set((0..<records).map(workload.identifier)).count == records)
        }
        #expect(RequestWorkload(records: 3, partitions: 4).identifiers == RequestWorkload.identifiers)
    }
}
