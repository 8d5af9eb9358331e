import Foundation
import LocalBroker

/// A folder with a test's files.
package struct TestFiles {
    struct Failure: Error {
        var message: String
    }

    private let folder: URL

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    package func remove() { try? FileManager.default.removeItem(at: folder) }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    package func write(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    /// A self-signed certificate, and its key.
    package func certificate(
        _ name: String,
        names: String = "DNS:localhost,IP:127.0.0.1",
        commonName: String = "localhost",
        key: [String] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    ) throws -> (certificate: String, key: String) {
        let files = (certificate: path("\(name).pem"), key: path("\(name)-key.pem"))
        _ = try run(
            "openssl",
            ["req", "-x509"] + key + [
                "-nodes", "-days", "2", "-subj", "/CN=\(commonName)", "-addext",
                "subjectAltName=\(names)", "-keyout", files.key,
                "-out", files.certificate,
            ]
        )
        return files
    }

    /// The same on a separate thread, for a program that calls this process.
    package func runAside(_ program: String, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(program, arguments) }) }
        }
    }

    /// Runs a program to its end and returns its output.
    package func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try LocalBroker.whileNoBrokerGoesDown { try process.run() }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(message: "\(program) ended with \(process.terminationStatus)")
        }
        return text
    }
}
