import Foundation
import Testing

/// The README, whose examples the tests run.
struct Readme {
    let text: String

    init() throws {
        text = try String(contentsOf: Tools.package.appendingPathComponent("README.md"), encoding: .utf8)
    }

    /// The one fenced block of a language that contains some text, without its fences.
    func block(_ language: String, containing part: String) throws -> String {
        let blocks = text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        let found = blocks.filter { $0.contains(part) }
        try #require(found.count == 1, "\(found.count) blocks of \(language) in the README contain \(part)")
        return found[0] + "\n"
    }
}
