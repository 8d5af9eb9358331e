import ArgumentParser
import Foundation
import Testing

@testable import carillon

@Suite("Examples in the help")
struct HelpExampleTests {
    /// Help is broken into lines of this length, within a word of a shell too.
    private static let columns = 80

    private static func commands(_ root: any ParsableCommand.Type = Carillon.self) -> [any ParsableCommand.Type] {
        [root] + root.configuration.subcommands.flatMap { commands($0) }
    }

    /// The lines below `Example:`, as a shell gets them.
    private static func examples(of command: any ParsableCommand.Type) -> [String] {
        let lines = command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0 == "Example:" || $0 == "Examples:" }) else { return [] }
        return lines[(start + 1)...].prefix { $0.isEmpty || $0.hasPrefix("  ") }.map(String.init)
    }

    @Test func `every command that takes arguments has examples, whose lines are not broken`() {
        for command in Self.commands() where command.configuration.subcommands.isEmpty {
            let examples = Self.examples(of: command)
            #expect(!examples.isEmpty, "\(command)")
            for line in examples { #expect(line.count <= Self.columns && !line.contains("…"), "\(command): \(line)") }
        }
    }

    @Test func `every example of a command is one that it understands`() throws {
        var count = 0
        for command in Self.commands() {
            for line in Self.lines(Self.examples(of: command)) {
                for words in Self.calls(in: line) {
                    count += 1
                    #expect(throws: Never.self, "\(line)") { _ = try Carillon.understood(words) }
                }
            }
        }
        #expect(count > 40)
    }

    /// Joins lines that continue.
    private static func lines(_ written: [String]) -> [String] {
        var (lines, open) = ([String](), "")
        for line in written where !line.isEmpty {
            open += line.hasSuffix("\\") ? line.dropLast() + " " : line + " "
            let isWhole = !line.hasSuffix("\\") && !line.hasSuffix("|") && open.count { $0 == "'" }.isMultiple(of: 2)
            guard isWhole else { continue }
            lines.append(open)
            open = ""
        }
        return lines
    }

    /// The arguments of each call of `carillon` in a line: words as a shell makes them, up to a pipe or a redirection.
    private static func calls(in line: String) -> [[String]] {
        var (calls, words, word, quote) = ([[String]](), [String](), nil as String?, nil as Character?)
        func finish() {
            if let last = word { words.append(last) }
            word = nil
        }
        func end() {
            finish()
            if let start = words.firstIndex(of: "carillon") {
                let rest = words[(start + 1)...]
                calls.append(Array(rest.prefix { $0 != "<" && $0 != ">" && $0 != "&" }))
            }
            words = []
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                (quote, word) = (character, word ?? "")
            } else if character == "|" {
                end()
            } else if character.isWhitespace {
                finish()
            } else {
                word = (word ?? "") + String(character)
            }
        }
        end()
        let token = String(repeating: "ab", count: 32)
        return calls.map { $0.map { $0 == "$token" ? token : $0 } }
    }

    @Test(arguments: [
        (["sned", "event"], "did you mean 'send'"), (["send", "evnt"], "did you mean 'event'"),
        (["device", "ad", "--recipient", "a"], "did you mean 'add'"), (["xyzzy"], "Its commands: local, broker"),
        (["help", "devise"], "did you mean 'device'"),
    ])
    func `a misspelt command gets a suggestion`(_ arguments: [String], _ said: String) {
        #expect(Carillon.misspelt(arguments)?.contains(said) == true, "\(Carillon.misspelt(arguments) ?? "")")
        #expect(throws: (any Error).self) { _ = try Carillon.understood(arguments) }
    }

    @Test(arguments: [["send", "event"], ["--help"], ["help", "send"], [], ["device", "--help"], ["tail", "topic"]])
    func `other command lines pass`(_ arguments: [String]) {
        #expect(Carillon.misspelt(arguments) == nil)
    }
}
