import Foundation

/// The load generator wrk, from Debian's package.
struct Wrk {
    /// Different recipients, so that the partitions share the load; errors count as no answers.
    private static let script = """
        local body = '{"content":{"title":"Your order is on its way","subtitle":"Order 00001001",' ..
          '"body":"The parcel \\\\"00001001\\\\" has left our warehouse and will be with you soon.","badge":3,' ..
          '"sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders","interruptionLevel":"active",' ..
          '"relevanceScore":0.5,"userInfo":{"orderId":"00001001","customer":{"tier":"gold"}}}}'
        local headers = {["Content-Type"] = "application/json"}
        local count = 0
        request = function()
          count = count + 1
          local number = count % 50000
          return wrk.format("PUT", "/v1/recipients/user-" .. number .. "/notifications/order-" .. number, headers, body)
        end
        done = function(summary, latency, requests)
          local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write
          io.write(string.format("RESULT %d %d %d\\n", summary.requests, failed, summary.duration))
        end
        """

    var seconds: Int
    var connections: Int

    init(seconds: Int, connections: Int) throws {
        (self.seconds, self.connections) = (seconds, connections)
        guard FileManager.default.isExecutableFile(atPath: Self.path) else {
            throw BenchmarkError("\(Self.path) is not there: apt-get install wrk, or start with deploy/bench")
        }
    }

    private static let path = "/usr/bin/wrk"

    /// - Returns: successful calls a second.
    func run(port: Int, alive process: SubjectProcess) throws -> Double {
        let script = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-bench-\(UUID()).lua")
        try Self.script.write(to: script, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: script) }
        try waitForAnswers(port, script, process)
        let (requests, failed, microseconds) = try call(port, script, seconds: seconds, connections: connections)
        guard failed == 0 else { throw BenchmarkError("\(failed) of \(requests) calls failed") }
        return requests / (microseconds / 1e6)
    }

    /// A second of calls succeeds once the service listens and its broker answers.
    private func waitForAnswers(_ port: Int, _ script: URL, _ process: SubjectProcess) throws {
        for _ in 0..<30 {
            _ = try process.sample()
            let (requests, failed, _) = try call(port, script, seconds: 1, connections: 2)
            if requests > 0, failed == 0 { return }
        }
        throw BenchmarkError("no answers on port \(port) within 30 s")
    }

    private func call(
        _ port: Int,
        _ script: URL,
        seconds: Int,
        connections: Int
    ) throws -> (requests: Double, failed: Double, microseconds: Double) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = [
            "-t", "1", "-c", "\(connections)", "-d", "\(seconds)", "-s", script.path, "http://127.0.0.1:\(port)",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(separator: "\n").first { $0.hasPrefix("RESULT ") }?.split(separator: " ").dropFirst()
        // It ends without a result while nobody listens.
        guard let numbers = numbers?.compactMap({ Double($0) }), numbers.count == 3 else { return (0, 0, 1) }
        return (numbers[0], numbers[1], numbers[2])
    }
}
