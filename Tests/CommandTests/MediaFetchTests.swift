import ArgumentParser
import Foundation
import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import carillon

@Suite("carillon media fetch", .timeLimit(.minutes(5)))
struct MediaFetchTests {
    /// Runs the command without its process.
    private func fetch(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, lines: [String]) {
        let command = try #require(try Carillon.understood(["media", "fetch"] + arguments) as? MediaFetchCommand)
        let file = try input.map { try TemporaryFile($0) }
        let output = Output()
        let settings = try command.settings(environment: environment)
        let summary = try await command.fetch(settings, input: file?.path) { output.take($0) }
        return (summary.status, output.text.split(separator: "\n").map(String.init))
    }

    /// The value of a member of a line of JSON, as text.
    private func member(_ path: String, _ line: String) throws -> String? {
        switch try JSONValue.parse(Array(line.utf8)).value(at: path) {
        case .string(let text)?: text
        case .number(let text)?: text
        case let other: other.map { String(decoding: $0.json, as: UTF8.self) }
        }
    }

    private func steps(_ line: String) throws -> [String] {
        let steps = try JSONValue.parse(Array(line.utf8))["steps"]?.arrayValue ?? []
        return steps.compactMap { $0["step"]?.stringValue }
    }

    @Test("an image of an internal origin is stored, with its dimensions and its digest")
    func image() async throws {
        let server = try LoopbackServer(["/a.png": LoopbackServer.image(LoopbackServer.png)])
        let folder = try FolderOfMedia()
        let url = "\(server.origin)/a.png"
        let answer = try await fetch([url, "--internal-origin", server.origin, "--output", folder.path, "--json"])
        #expect(answer.status == 0)
        let line = try #require(answer.lines.first)
        #expect(answer.lines.count == 1)
        for (path, value) in [
            ("url", url), ("outcome", "downloaded"), ("kind", "image"), ("type", "public.png"), ("width", "1"),
            ("height", "1"), ("bytes", "67"), ("line", nil),
            ("digest", "eaa4a94ea300e0d2c775968cbe42f0b5b51ceafdeb73d64e9efddf6d4e880865"),
        ] {
            #expect(try member(path, line) == value, "\(path)")
        }
        #expect(try steps(line) == ["requested", "resolved", "connected", "answered", "checked", "stored"])
        let file = try #require(try member("file", line))
        #expect(file.hasPrefix(folder.path))
        #expect(FileManager.default.contents(atPath: file).map(Array.init) == LoopbackServer.png)
    }

    @Test("the text names each step, and the medium")
    func text() async throws {
        let server = try LoopbackServer([
            "/a.png": LoopbackServer.image(LoopbackServer.png), "/old.png": LoopbackServer.redirect(to: "/a.png"),
        ])
        let answer = try await fetch(["\(server.origin)/old.png", "--internal-origin", server.origin])
        #expect(answer.status == 0)
        let texts = [
            "\(server.origin)/old.png", "\(server.origin) is allowed", "addresses: 127.0.0.1: allowed",
            "connected to 127.0.0.1", "answered 302: no Content-Type, 0 bytes",
            "redirected (302) to \(server.origin), which is allowed", "addresses: 127.0.0.1: allowed",
            "connected to 127.0.0.1", "answered 200: image/png, 67 bytes",
            "checked: public.png, whole and within the limits", "stored: eaa4a94e",
            "downloaded: image, public.png, 1x1, 67 bytes, SHA-256 eaa4a94e",
        ]
        #expect(answer.lines.count == texts.count, "\(answer.lines)")
        for (line, text) in zip(answer.lines, texts) { #expect(line.contains(text)) }
    }

    @Test("a private address and a redirect to one are refused, and nothing is fetched from there")
    func privateAddresses() async throws {
        let target = try LoopbackServer([:])
        let server = try LoopbackServer(["/": LoopbackServer.redirect(to: "\(target.origin)/secret")])
        let urls = ["https://10.0.0.1/", "\(target.origin)/secret", "\(server.origin)/"]
        let answer = try await fetch(urls + ["--internal-origin", server.origin, "--json"])
        #expect(answer.status == ExitStatus.failed)
        #expect(try answer.lines.map { try member("url", $0) } == urls)
        for line in answer.lines {
            #expect(try member("outcome", line) == "refused")
            #expect(try member("reason", line) == "address-refused")
            #expect(try member("file", line) == nil)
        }
        #expect(target.targets.isEmpty && server.targets == ["/"])
    }

    @Test("a bad line is an error with its number; the others are fetched, and reported in their order")
    func lines() async throws {
        let server = try LoopbackServer(["/a.png": LoopbackServer.image(LoopbackServer.png)])
        let url = "\(server.origin)/a.png"
        let input = """
            \(url)

            {"url":"\(url)","typeHint":"public.jpeg"}
            {"url":
            \(String(repeating: "x", count: MediaLines.maximumBytes + 1))
            {"url":"\(url)","typ":"public.png"}
            "\(url)"
            """
        let answer = try await fetch(["--json", "--internal-origin", server.origin], input: input)
        #expect(answer.status == ExitStatus.failed)
        #expect(try answer.lines.map { try member("line", $0) } == ["1", "3", "4", "5", "6", "7"])
        #expect(
            try answer.lines.map { try member("reason", $0) } == [
                nil, "type-mismatch", "invalid", "too-large", "unknown-field", nil,
            ]
        )
        #expect(try answer.lines.map { try member("kind", $0) } == ["image", nil, nil, nil, nil, "image"])
        let text = try await fetch(["-"], input: "\n[]\n")
        #expect(text.status == ExitStatus.badData)
        #expect(text.lines == ["line 2", "  invalid line: invalid: neither a string nor an object"])
    }

    @Test("what is not kept is in a directory of this user only, and removed at the end")
    func temporary() async throws {
        let server = try LoopbackServer(["/a.png": LoopbackServer.image(LoopbackServer.png)])
        var settings = try MediaFetchCommand.parse(["--internal-origin", server.origin]).settings(environment: [:])
        settings.typeHint = "public.png"
        let fetching = try MediaFetching(settings)
        let report = await fetching.report(on: MediaItem(url: "\(server.origin)/a.png"))
        guard case .fetched(_, file: nil) = report.outcome else {
            Issue.record("\(report.text)")
            return
        }
        let path = try #require(fetching.temporary?.path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        fetching.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("the end of its reader ends the command")
    func noReader() async throws {
        let urls = (0..<100).map { "https://10.0.0.\($0)/" }
        let command = try MediaFetchCommand.parse(urls)
        let output = Output(lines: 1)
        let summary = try await command.fetch(try command.settings(environment: [:])) { output.take($0) }
        #expect(summary.refused == 1)
    }
}

/// Collects what a command writes.
private final class Output: Sendable {
    private let reports = Mutex<[[UInt8]]>([])
    private let bound: Int

    /// - Parameter bound: The reports after which its reader is gone.
    init(lines bound: Int = .max) { self.bound = bound }

    var text: String { String(decoding: reports.withLock { $0.flatMap(\.self) }, as: UTF8.self) }

    func take(_ report: [UInt8]) -> Bool {
        reports.withLock {
            $0.append(report)
            return $0.count < bound
        }
    }
}

/// A folder that is deleted with its last reference.
private final class FolderOfMedia: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-test-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
