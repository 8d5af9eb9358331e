import Foundation

/// The programs that the tests start, and where they are.
enum Tools {
    /// Something that `deploy/test` provides is not there.
    struct Missing: Error, CustomStringConvertible {
        var description: String
    }

    /// The root of the package.
    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// An executable of this package, built with the tests, in the folder of their bundle.
    static func product(_ name: String) throws -> String {
        let beside = Bundle.module.bundleURL.deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: beside) else {
            throw Missing(
                description: "\(beside) is not there: build everything with deploy/test or `swift build --build-tests`"
            )
        }
        return beside
    }

    /// The Python with the independent clients, which `deploy/test` installs.
    static func python() throws -> String {
        let python = package.appendingPathComponent(".build/python/bin/python").path
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw Missing(
                description:
                    "\(python) is not there: run deploy/test, which makes the environment of the Python clients"
            )
        }
        return python
    }

    /// A program on PATH; `deploy/test` installs those of the tests.
    static func program(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":") {
            let candidate = "\(folder)/\(name)"
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw Missing(description: "\(name) is not on PATH: run deploy/test, which installs it")
    }

    /// A file of `Clients/`.
    static func client(_ name: String) -> String {
        Bundle.module.bundleURL.appendingPathComponent("Clients/\(name)").path
    }
}

/// A folder that is deleted when its last reference is released.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }
}
