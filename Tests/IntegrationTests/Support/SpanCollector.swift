import TestSupport
import Foundation
import Testing

/// A collector of spans by another hand: it parses what it gets with the definitions of OpenTelemetry.
final class SpanCollector: Sendable {
    /// A span as it arrived.
    struct Span: Decodable, Sendable {
        var service: String
        var trace: String
        var span: String
        /// Empty for the first one of a trace.
        var parent: String
        var name: String
        var kind: String
        /// `trace-span`.
        var links: [String]
        var attributes: [String: String]
        var error: Bool
        /// The header `x-token` of its request.
        var token: String?
    }

    private struct Other: Decodable {
        var port: Int?
        var changed: String?
        var wrong: String?
    }

    let process: ChildProcess
    let port: Int
    private let lines: Lines<Span>

    /// - Parameter port: 0 for a free one.
    init(port: Int = 0) async throws {
        let process = try ChildProcess(
            try Tools.python(),
            [Tools.client("collector.py"), "--port", "\(port)"],
            keepsInput: true
        )
        var found = 0
        try await eventually("the collector listens", orSay: { process.lastWords }) {
            guard process.isRunning else { throw ChildProcess.Failure(description: process.lastWords) }
            found = process.outputLines.compactMap { Self.other($0)?.port }.first ?? 0
            return found > 0
        }
        (self.process, self.port) = (process, found)
        lines = Lines(of: process) { try? JSONDecoder().decode(Span.self, from: Data($0.utf8)) }
    }

    private static func other(_ line: some StringProtocol) -> Other? {
        try? JSONDecoder().decode(Other.self, from: Data(line.utf8))
    }

    /// The base of its address, as `tracing.endpoint` takes it.
    var endpoint: String { "http://127.0.0.1:\(port)" }

    var spans: [Span] { lines.records }

    /// What was wrong with requests.
    var faults: [String] { process.outputLines.compactMap { Self.other($0)?.wrong } }

    func answer(_ mode: String) async throws {
        try process.write(mode)
        try await eventually("the collector answers \(mode)") {
            process.outputLines.compactMap { Self.other($0)?.changed }.last == mode
        }
    }
}
