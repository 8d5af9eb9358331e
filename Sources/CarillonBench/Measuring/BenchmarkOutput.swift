import ArgumentParser
import Foundation
import Logging

/// Options and output that every benchmark has.
struct BenchmarkOutput: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON object instead of tables.")
    var json = false

    /// Progress goes to standard error, so that the result can be piped.
    func progress(_ text: String) {
        FileHandle.standardError.write(Data("carillon bench: \(text)\n".utf8))
    }

    func print(_ result: some Encodable, table: () -> String) throws {
        guard json else {
            Swift.print(table())
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Swift.print(String(decoding: try encoder.encode(result), as: UTF8.self))
    }

    /// Only what goes wrong is worth a line among the figures.
    var logger: Logger {
        var logger = Logger(label: "carillon-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }
}

/// Columns that line up: the first to the left, the others to the right.
enum TextTable {
    static func text(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
