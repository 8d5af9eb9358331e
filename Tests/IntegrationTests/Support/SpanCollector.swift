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
    private let scheme: String

    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - certificate: a file with it and its key, for TLS.
    init(port: Int = 0, certificate: String? = nil) async throws {
        scheme = certificate == nil ? "http" : "https"
        let process = try ChildProcess(
            try Tools.python(),
            [Tools.client("collector.py"), "--port", "\(port)"] + (certificate.map { ["--certificate", $0] } ?? []),
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
    var endpoint: String { "\(scheme)://127.0.0.1:\(port)" }

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
