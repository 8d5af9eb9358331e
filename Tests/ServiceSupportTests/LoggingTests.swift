import Foundation
import Logging
import Testing

@testable import ServiceSupport

@Suite("Logging")
struct LoggingTests {
    private let lines = Lines()

    private func logger(_ format: LoggingConfiguration.Format, level: Logger.Level = .info) -> Logger {
        LoggingConfiguration(level: level, format: format).logger(label: "carillon") { [lines] in lines.append($0) }
    }

    @Test func `a record is one JSON object with time, level, message and metadata`() throws {
        var logger = logger(.json)
        logger[metadataKey: LogMetadata.lane] = "0"
        logger.warning(
            "hello \"world\"\u{0}\nforged",
            metadata: [LogMetadata.partition: "\(7)", "list": ["a", "b"], "map": ["k": "v"]]
        )
        let line = try #require(lines.written.first)
        #expect(line.hasSuffix("}\n") && line.dropLast().firstIndex(of: "\n") == nil)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["level"] as? String == "warning")
        #expect(object["logger"] as? String == "carillon")
        #expect(object["message"] as? String == "hello \"world\"\u{0}\nforged")
        let metadata = try #require(object["metadata"] as? [String: Any])
        #expect(metadata[LogMetadata.lane] as? String == "0")
        #expect(metadata[LogMetadata.partition] as? String == "7")
        #expect(metadata["list"] as? [String] == ["a", "b"])
        #expect(metadata["map"] as? [String: String] == ["k": "v"])
        let time = try #require(object["time"] as? String)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
    }

    @Test func `text keeps a record on one line`() throws {
        logger(.text).error("first\nsecond", metadata: ["key": "a\u{1b}[31m"])
        let line = try #require(lines.written.first)
        #expect(line.hasSuffix(#"error   carillon: first\nsecond key=a\u001b[31m"# + "\n"), "\(line)")
    }

    @Test func `records below the level are not written`() {
        let logger = logger(.json, level: .warning)
        logger.info("no")
        logger.warning("yes")
        #expect(lines.written.count == 1)
    }

    @Test func `level and format come from the settings`() throws {
        var settings = try ServiceSettings(
            environment: ["CARILLON_LOG_LEVEL": "trace"],
            yaml: "log: {format: json}",
            named: "f"
        )
        #expect(LoggingConfiguration(settings: &settings) == .init(level: .trace, format: .json))
        try settings.finish()
    }
}
