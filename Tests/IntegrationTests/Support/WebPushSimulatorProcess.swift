import Foundation
import Testing
import TestSupport

/// `carillon webpush-simulator`, and where it says that everything is.
struct WebPushSimulatorProcess: Sendable {
    let child: ChildProcess
    private let folder: TemporaryFolder

    /// Starts it, on free ports, and waits until it is ready.
    init() async throws {
        let folder = try TemporaryFolder()
        let child = try ChildProcess(
            try Tools.product("carillon"),
            [
                "webpush-simulator", "--port", "0", "--browser-port", "0", "--control-port", "0", "--directory",
                folder.file("push"),
            ]
        )
        (self.child, self.folder) = (child, folder)
        try await eventually("the push service listens", orSay: { child.lastWords }) {
            guard child.isRunning else { throw ChildProcess.Failure(description: child.lastWords) }
            return word("authority") != nil
        }
    }

    /// What it says of a part: `endpoints`, `browsers`, `control`, `authority`.
    func place(_ name: String) throws -> String { try #require(word(name), "\(child.outputText)") }

    private func word(_ name: String) -> String? {
        child.outputLines.map { $0.split(separator: " ") }.first { $0.first == name[...] }?.last.map(String.init)
    }
}
