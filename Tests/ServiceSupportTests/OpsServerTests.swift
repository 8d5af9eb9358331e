import CoreMetrics
import Foundation
import HTTPTesting
import LocalBroker
import Logging
import Metrics
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import ServiceSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The ops endpoint", .timeLimit(.minutes(10)))
struct OpsServerTests {
    private let isLate: Flag
    private let health: Health
    private let registry = PrometheusRegistry()

    init() {
        let isLate = Flag()
        self.isLate = isLate
        health = Health { isLate.isSet ? .now + Health.defaultStallTimeout + .seconds(1) : .now }
    }

    /// Runs a server on a free port, and stops it gracefully after the body.
    private func withServer(hosts: [String] = [], _ body: (_ base: String) async throws -> Void) async throws {
        let logger = LoggingConfiguration(level: .critical).logger(label: "test")
        var configuration = OpsConfiguration(port: 0)
        configuration.hosts = hosts
        let server = OpsServer(configuration: configuration, health: health, registry: registry, logger: logger)
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body("http://127.0.0.1:\(server.port)")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Repeats the call as the service asks, when it found no time for the answer beside the other tests.
    private func get(_ url: String, method: String = "GET") async throws -> (status: Int, type: String?, body: String) {
        var answer = try await getOnce(url, method: method)
        for _ in 0..<10 where answer.body.contains(#""reason":"overloaded""#) {
            answer = try await getOnce(url, method: method)
        }
        return answer
    }

    private func getOnce(_ url: String, method: String) async throws -> (status: Int, type: String?, body: String) {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        let type = http.value(forHTTPHeaderField: "Content-Type")
        return (http.statusCode, type, String(decoding: data, as: UTF8.self))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool), "promtool is not installed"))
    func `promtool accepts a live page with every kind of metric`() async throws {
        Counter(label: "requests.read", dimensions: [("outcome", "a \"b\" \\ c\n")], factory: registry).increment()
        FloatingPointCounter(label: "busy.seconds", factory: registry).increment(by: 0.1)
        Gauge(label: "schedule.pending", factory: registry).record(12)
        Meter(label: "lanes.active", factory: registry).set(2)
        Metrics.Timer(label: "delivery.duration", factory: registry).recordMilliseconds(3)
        Recorder(label: "request.size.bytes", factory: registry).record(380)
        registry.collect {
            $0.gauge("consumer.lag.records", help: "Lag \\ of\nit.", value: 1, labels: [("partition", "0")])
        }
        try await withServer { base in
            let answer = try await get("\(base)/metrics")
            #expect(answer.status == 200)
            #expect(answer.type == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.body.contains("carillon_requests_read_total{"))
            let (status, output) = try check(answer.body)
            #expect(status == 0, "\(output)")
            #expect(output == "")
        }
    }

    private static let promtool = "/usr/bin/promtool"

    private func check(_ page: String) throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.promtool)
        process.arguments = ["check", "metrics"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        // The suites of other modules stop brokers in this process.
        try LocalBroker.whileNoBrokerGoesDown { try process.run() }
        input.fileHandleForWriting.write(Data(page.utf8))
        try input.fileHandleForWriting.close()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test func `ready lists every component that is not ready and why`() async throws {
        let kafka = health.component("kafka")
        let lane = health.component("lane-0")
        try await withServer { base in
            var answer = try await get("\(base)/health/ready")
            #expect(answer.status == 503)
            #expect(answer.type == "application/json")
            #expect(answer.body.contains(#"{"component":"kafka","why":"starting"}"#))
            kafka.notReady("no broker \"a:1\" answers")
            lane.ready()
            answer = try await get("\(base)/health/ready")
            let expected =
                #"{"status":"not ready","components":[{"component":"kafka","why":"no broker \"a:1\" answers"}]}"#
            #expect(answer.body == expected + "\n")
            kafka.ready()
            answer = try await get("\(base)/health/ready")
            #expect(answer.status == 200)
            #expect(answer.body == "{\"status\":\"ready\"}\n")
            lane.remark("the disk is \"full\"")
            answer = try await get("\(base)/health/ready")
            #expect(answer.status == 200)
            let remarks = #""remarks":[{"component":"lane-0","why":"the disk is \"full\""}]}"#
            #expect(answer.body == #"{"status":"ready","# + remarks + "\n")
            kafka.notReady("away")
            answer = try await get("\(base)/health/ready")
            #expect(answer.status == 503)
            #expect(answer.body.contains(#""why":"away"}],"# + remarks))
            lane.remark(nil)
            kafka.ready()
            answer = try await get("\(base)/health/ready")
            #expect(answer.body == "{\"status\":\"ready\"}\n")
        }
    }

    @Test func `live ignores components that are not ready, and fails only for a stalled thread`() async throws {
        health.component("kafka").notReady("no broker answers")
        let lane = health.component("lane")
        let (stop, hasBegun) = (StopSignal(), StopSignal())
        Thread.detachNewThread {
            lane.supervised {
                hasBegun.request()
                stop.wait(.seconds(600))
            }
        }
        defer { stop.request() }
        while !hasBegun.isRequested { try await Task.sleep(for: .milliseconds(1)) }
        try await withServer { base in
            var answer = try await get("\(base)/health/live")
            #expect(answer.status == 200)
            isLate.set()
            answer = try await get("\(base)/health/live")
            #expect(answer.status == 503)
            #expect(answer.body.contains(#"{"component":"lane","why":"its thread has made no progress for "#))
        }
    }

    @Test func `other paths are not found and other methods not allowed, and calls are counted by route`() async throws
    {
        try await withServer { base in
            let http = RawHTTP(port: try #require(URL(string: base)?.port))
            let cases = [
                ("GET", "/", 404), ("GET", "/metrics/x", 404), ("GET", "/metrics/", 404), ("GET", "/health", 404),
                ("POST", "/metrics", 405), ("DELETE", "/health/ready", 405), ("HEAD", "/health/live", 200),
            ]
            for (method, path, status) in cases {
                let answer = try await http.send(method, path)
                #expect(answer.status == status, "\(method) \(path)")
                guard status != 200 else { continue }
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer["reason"] == (status == 404 ? "not-found" : "method-not-allowed"))
                #expect(answer.headers["allow"] == (status == 404 ? nil : "GET, HEAD"))
            }
            let page = try await http.send("GET", "/metrics").text
            for (labels, count) in [
                (#"method="other",route="other""#, 4), (#"method="other",route="/metrics""#, 1),
                (#"method="other",route="/health/ready""#, 1), (#"method="HEAD",route="/health/live""#, 1),
                (#"method="GET",route="/health/live""#, 0),
            ] {
                let line = "\ncarillon_ops_request_duration_seconds_count{\(labels)} \(count)\n"
                #expect(page.contains(line), "\(line)")
            }
            #expect(page.contains("\ncarillon_ops_refused_total{reason=\"not-found\"} 4\n"))
        }
    }

    @Test func `a target in absolute form is served as its path`() async throws {
        try await withServer { base in
            let http = RawHTTP(port: try #require(URL(string: base)?.port))
            for (target, status) in [
                ("http://localhost:8081/health/live", 200), ("http://127.0.0.1/nowhere", 404),
                ("ftp://localhost/health/live", 400),
            ] {
                #expect(try await http.send("GET", target).status == status, "\(target)")
            }
        }
    }

    @Test func `an address in use is named, also to callers that wait for the port`() async throws {
        let logger = LoggingConfiguration(level: .critical).logger(label: "test")
        try await withServer { base in
            let port = try #require(URL(string: base)?.port)
            let second = OpsServer(configuration: .init(port: port), health: health, registry: registry, logger: logger)
            let error = await #expect(throws: ListenError.self) { try await second.run() }
            let said = "another program uses the port; end it, or set another one (ops.port)"
            #expect(error?.description == "ops endpoint cannot listen on 127.0.0.1:\(port): \(said)")
            await #expect(throws: ListenError.self) { try await second.port }
        }
    }

    @Test func `its thread takes work after the end, for what a connection lets go of late`() async throws {
        try await withServer { base in
            let answer = try await get("\(base)/health/live")
            #expect(answer.status == 200)
        }
        try await OpsServer.loops.any().submit {}.get()
    }

    @Test func `waiting for a port ends when the waiter is cancelled`() async throws {
        let bound = BoundPort()
        let waiter = Task { try await bound.wait() }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        bound.resolve(.success(1))
        bound.resolve(.success(2))
        #expect(try await bound.wait() == 1)
    }

    @Test("A caller names the port by an address or a known name; a page in a browser has a name of its own")
    func hosts() async throws {
        try await withServer(hosts: ["Consumer.internal"]) { base in
            let port = try #require(base.split(separator: ":").last.flatMap { Int($0) })
            func status(_ host: String?, _ target: String = "/health/live", version: String = "1.1") async throws -> Int
            {
                let field = host.map { "host: \($0)\r\n" } ?? ""
                let head = "GET \(target) HTTP/\(version)\r\n\(field)connection: close\r\n\r\n"
                return try await RawHTTP(port: port).exchange(Array(head.utf8)).status
            }
            for own in [
                "localhost", "127.0.0.1:8081", "[::1]:1", "10.1.2.3:8081", "[fe80::1]", "consumer.INTERNAL:8081",
                SharedConfiguration.hostName,
            ] {
                #expect(try await status(own) == 200, "\(own)")
            }
            for target in ["/metrics", "/health/ready", "/nowhere"] {
                for foreign in ["example.com", "10.1.2.3.example.com", "consumer.internal.example.com", "", "a b"] {
                    let expected = foreign == "a b" ? [400, 403] : [403]
                    #expect(try await expected.contains(status(foreign, target)), "\(foreign)")
                }
            }
            #expect(try await status(nil, version: "1.0") == 200, "no browser uses it")
            #expect(try await status("localhost", "http://example.com/metrics") == 403, "the target counts")
        }
    }
}
