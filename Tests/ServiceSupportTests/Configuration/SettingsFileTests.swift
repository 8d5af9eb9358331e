import Foundation
import Testing

@testable import ServiceSupport

@Suite("The settings file")
struct SettingsFileTests {
    private func message(_ yaml: String) -> String? {
        do throws(ServiceSettingsError) {
            _ = try ServiceSettings(environment: [:], yaml: yaml, named: "f.yaml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a missing file is reported`() throws {
        let error = #expect(throws: ServiceSettingsError.self) {
            _ = try ServiceSettings(environment: [:], file: "/nowhere/carillon.yaml")
        }
        #expect(error?.description == "/nowhere/carillon.yaml: the settings file does not exist")
    }

    @Test func `a directory is not a settings file`() throws {
        let error = #expect(throws: ServiceSettingsError.self) { _ = try ServiceSettings(environment: [:], file: "/") }
        #expect(error?.description == "/: the settings file cannot be read")
    }

    @Test func `bytes that are not UTF-8 are refused`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([0x61, 0x3a, 0x20, 0xff, 0xfe]).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: ServiceSettingsError.self) { _ = try ServiceSettings(environment: [:], file: path) }
        #expect(error?.description.contains("is not UTF-8") == true)
    }

    @Test func `text that is not YAML is refused with the line`() {
        #expect(message("a: 1\nb: [1, 2\nc: 3\n")?.hasPrefix("f.yaml:3: the settings file is not YAML: ") == true)
        #expect(message("a: 1\n\tb: 2\n")?.hasPrefix("f.yaml:2: the settings file is not YAML: ") == true)
        #expect(message("a: *nothing\n")?.hasPrefix("f.yaml:1: the settings file is not YAML: ") == true)
    }

    @Test func `nested aliases are refused where they exceed the limit, a few work`() {
        var yaml = "a0: &a0 [lol, lol, lol, lol, lol]\n"
        for level in 1...12 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            yaml += "a\(level): &a\(level) [\(items)]\n"
        }
        let found = message(yaml)
        #expect(found?.hasPrefix("f.yaml:6: ") == true && found?.contains("aliases") == true, "\(found ?? "")")
        #expect(message("kafka: {bootstrap: {servers: &s [a]}}\nx: *s\n") == nil)
    }

    @Test func `a file of more than a mebibyte is refused before it is parsed`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(repeating: 0x23, count: SettingsFile.maximumBytes + 1).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: ServiceSettingsError.self) { _ = try ServiceSettings(environment: [:], file: path) }
        #expect(error?.description.contains("more than 1048576 bytes") == true)
    }

    @Test func `a key that appears twice is refused with its line`() {
        #expect(message("http:\n  port: 1\n  port: 2\n")?.contains("port appears twice in one map") == true)
        #expect(message("http:\n  port: 1\nhttp.port: 2\n") == "f.yaml:3: http.port appears twice (first on line 2)")
    }

    @Test func `only a map of keys is a settings file`() {
        #expect(message("- a\n- b\n") == "f.yaml:1: the settings file is not a map of keys at its top")
        #expect(message("just text") == "f.yaml:1: the settings file is not a map of keys at its top")
        #expect(message("a: 1\n---\nb: 2\n")?.contains("another document") == true)
    }

    @Test func `a list of maps is refused`() {
        #expect(message("a:\n  - {b: 1}\n")?.hasPrefix("f.yaml:1: a has a list or map inside a list") == true)
    }

    @Test(arguments: ["", "\n", "# only a comment\n", "---\n", "{}", "null"])
    func `a file without keys is a file without settings`(yaml: String) throws {
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "f.yaml")
        #expect(settings.int("a", default: 5) == 5)
        try settings.finish()
    }
}

@Suite("Durations as text")
struct DurationTextTests {
    @Test func `number and unit are read exactly`() {
        #expect(DurationText.parse("250ms") == .milliseconds(250))
        #expect(DurationText.parse("10s") == .seconds(10))
        #expect(DurationText.parse("1.5s") == .milliseconds(1500))
        #expect(DurationText.parse("7d") == .seconds(604_800))
        #expect(DurationText.parse("0s") == .zero)
        #expect(DurationText.parse("2h") == .seconds(7200))
        #expect(DurationText.parse("5us") == .microseconds(5))
        #expect(DurationText.parse("0.1s") == .milliseconds(100))
    }

    @Test(arguments: [
        "", "10", "s", "-1s", "1 s", "1S", "1e3s", ".5s", "1.s", "1.2.3s", "99999999999999d", "١s", "1m30s",
    ])
    func `everything else is refused`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: ["0s", "250ms", "1500ms", "90s", "2m", "1h", "7d", "5us", "1ns"])
    func `a written duration reads back the same`(text: String) {
        #expect(DurationText.parse(text).map(DurationText.write) == text)
    }
}
