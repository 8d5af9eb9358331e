import Foundation
import Testing
import TestSupport

/// `carillon local`, and where it says that everything is.
struct LocalProcess: Sendable {
    let child: ChildProcess

    /// Starts it, on free ports, and waits until it is ready.
    init(_ arguments: [String] = [], environment: [String: String] = [:]) async throws {
        let child = try ChildProcess(
            try Tools.product("carillon"),
            ["local", "--http", "127.0.0.1:0", "--ops", "127.0.0.1:0"] + arguments,
            environment: environment
        )
        self.child = child
        try await eventually("carillon local is ready", orSay: { child.lastWords }) {
            guard child.isRunning else { throw ChildProcess.Failure(description: child.lastWords) }
            return word("phone") != nil
        }
    }

    /// What it says of a part: `http`, `phone`, …
    func place(_ name: String) throws -> String { try #require(word(name), "\(child.outputText)") }

    private func word(_ name: String) -> String? {
        child.outputLines.map { $0.split(separator: " ") }.first { $0.first == name[...] }?.dropFirst().first
            .map { $0.last == "," ? String($0.dropLast()) : String($0) }
    }
}
