import Foundation
import NotificationModel
import Testing

@testable import carillon

@Suite("JSON from files, pipes and terminals")
struct JSONInputTests {
    /// The values read from a text, one line each: `12 {"a":1}`, or `12 reason`.
    private func read(_ text: String, maximumBytes: Int = JSONInput.maximumBytes) throws -> [String] {
        let file = try TemporaryFile(text)
        var input = try JSONInput(path: file.path, maximumBytes: maximumBytes)
        var found: [String] = []
        while true {
            switch try input.next(within: .seconds(120)) {
            case .value(let place, let bytes):
                found.append("\(place.dropFirst(file.path.count + 1)) \(String(decoding: bytes, as: UTF8.self))")
            case .refused(let place, let error):
                found.append("\(place.dropFirst(file.path.count + 1)) \(error.reason.rawValue)")
            case .nothingYet: Issue.record("a file always has something, or its end")
            case .end: return found
            }
        }
    }

    @Test func `JSON Lines: each line is a value, blank lines are ignored, the last needs no line end`() throws {
        #expect(
            try read("{\"a\":1}\n\n  \t\r\n{\"b\":2}\r\n{\"c\":3}") == ["1 {\"a\":1}", "4 {\"b\":2}\r", "5 {\"c\":3}"]
        )
        #expect(try read("") == [])
        #expect(try read("\n\n") == [])
    }

    @Test func `a line above the limit is reported once, at the limit, and does not affect the next`() throws {
        let long = String(repeating: "x", count: 300_000)
        #expect(
            try read("\(long)\n{\"a\":1}\n\(long)", maximumBytes: 100_000) == [
                "1 too-large", "2 {\"a\":1}", "3 too-large",
            ]
        )
    }

    /// Neither has an end, so each must return after its timeout, with bounded memory.
    @Test func `an input without lines, and one of blank lines, are read no longer than requested`() throws {
        var zero = try JSONInput(path: "/dev/zero", maximumBytes: 1 << 20)
        #expect(
            try zero.next(within: .seconds(60))
                == .refused(place: "/dev/zero:1", ModelError(.tooLarge, "a value has at most 1048576 bytes"))
        )
        #expect(try zero.next(within: .milliseconds(20)) == .nothingYet)
        let file = try TemporaryFile(String(repeating: "\n", count: 3_000_000))
        var blank = try JSONInput(path: file.path)
        #expect(try blank.next(within: .zero) == .nothingYet)
    }

    @Test func `an invalid line does not affect the next`() throws {
        #expect(try read("{\"a\":1}\n{\"b\":\n{\"c\":3}\n") == ["1 {\"a\":1}", "2 {\"b\":", "3 {\"c\":3}"])
    }

    @Test func `a document over several lines is one value, and so is the one after it`() throws {
        let text = "{\n  \"a\": \"} [\\\"\",\n  \"b\": [1,\n 2]\n}\n\n{\n\"c\": 3\n}\n"
        #expect(
            try read(text) == ["1 {\n  \"a\": \"} [\\\"\",\n  \"b\": [1,\n 2]\n}", "7 {\n\"c\": 3\n}"]
        )
    }

    @Test func `an array is read as its elements, in one line or several`() throws {
        #expect(try read("[{\"a\":1}, {\"b\":1.50}]\n") == ["1, element 1 {\"a\":1}", "1, element 2 {\"b\":1.50}"])
        #expect(try read("\n[\n{\"a\":1},\n2\n]\n") == ["2, element 1 {\"a\":1}", "2, element 2 2"])
        #expect(try read("[]\n[3]") == ["2, element 1 3"])
    }

    @Test func `an element may be as deep as a separate value`() throws {
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(try read("[{\"a\":\(deep)}]") == ["1, element 1 {\"a\":\(deep)}"])
    }

    @Test func `an invalid array is refused as a whole, at its first line`() throws {
        #expect(try read("[\n{\"a\":1},\n{\"b\"}\n]\n") == ["1 invalid"])
        #expect(try read("\n[\n{\"a\":1},\n") == ["2 invalid"])
        #expect(try read("[1]]") == ["1 invalid"])
    }

    @Test func `an object that is never closed is one value with everything after it`() throws {
        #expect(try read("{\"a\":\n{\"b\":2}\n") == ["1 {\"a\":\n{\"b\":2}"])
    }

    @Test func `a value above the limit is refused, and the next line is read`() throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: 100_000) + "\"}"
        let found = try read("{\"b\":2}\n\(long)\n{\"c\":3}\n", maximumBytes: 100_000)
        #expect(found == ["1 {\"b\":2}", "2 too-large", "3 {\"c\":3}"])
        let lines = String(repeating: String(repeating: " ", count: 99) + "\n", count: 10)
        #expect(try read("{\n" + lines + "}\n", maximumBytes: 1_000).first == "1 too-large")
        #expect(try read("{\n" + lines + "}\n", maximumBytes: 1_003).count == 1)
        #expect(try read("{\"a\":1}", maximumBytes: 6) == ["1 too-large"])
        #expect(try read("{\"a\":1}", maximumBytes: 7) == ["1 {\"a\":1}"])
    }

    @Test func `a missing file and a folder are reported`() {
        #expect(throws: CommandFailure("/no/such/file: No such file or directory", status: 66)) {
            _ = try JSONInput(path: "/no/such/file")
        }
        #expect(throws: CommandFailure("/: is a directory", status: 66)) { _ = try JSONInput(path: "/") }
    }

    @Test func `lines are read as they are written to a pipe, with a timeout`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-test-\(UUID().uuidString)")
        let path = folder.path
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        // Opened for reading and writing, so that opening does not block.
        let pipe = try #require(FileHandle(forUpdatingAtPath: path))
        let reader = try LineReader(path: path, maximumBytes: 100)
        #expect(try reader.next(within: .zero) == .nothingYet)
        try pipe.write(contentsOf: Data("half".utf8))
        #expect(try reader.next(within: .milliseconds(1)) == .nothingYet)
        try pipe.write(contentsOf: Data(" and whole\nnext\n".utf8))
        #expect(try reader.next(within: .seconds(120)) == .line(Array("half and whole".utf8)))
        #expect(try reader.next(within: .zero) == .line(Array("next".utf8)))
        try pipe.write(contentsOf: Data("last".utf8))
        try pipe.close()
        #expect(try reader.next(within: .seconds(120)) == .line(Array("last".utf8)))
        #expect(try reader.next(within: .seconds(120)) == .end)
        #expect(try reader.next(within: .zero) == .end)
    }
}
