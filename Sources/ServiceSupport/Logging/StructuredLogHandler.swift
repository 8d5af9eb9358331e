import Logging
import NotificationModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes a log record as one line: a JSON object for machines, or text for a terminal.
///
///     {"time":"2026-11-21T08:00:00.000Z","level":"info","logger":"carillon","message":"ready","metadata":{"port":"8081"}}
///     08:00:00.000 info    carillon: ready port=8081
///
/// Both escape control and similar characters, so that external text can neither forge a record nor control a terminal.
struct StructuredLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    private let label: String
    private let isText: Bool
    private let write: @Sendable (String) -> Void

    init(label: String, level: Logger.Level, isText: Bool, write: @escaping @Sendable (String) -> Void) {
        self.label = label
        self.logLevel = level
        self.isText = isText
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() {
            merged.merge(provided) { _, new in new }
        }
        if let given = event.metadata {
            merged.merge(given) { _, new in new }
        }
        if let error = event.error {
            merged[LogMetadata.error] = "\(error)"
        }
        // Sorted, so that equal records are equal lines.
        let fields = merged.sorted { $0.key < $1.key }
        let time = Date.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
        write(isText ? text(event, time: time, fields) : json(event, time: time, fields))
    }

    private func json(_ event: LogEvent, time: String, _ fields: [(key: String, value: Logger.MetadataValue)]) -> String
    {
        var line = "{\"time\":\"\(time)Z\",\"level\":\"\(event.level)\",\"logger\":\(LogJSON.quoted(label))"
        line += ",\"message\":\(LogJSON.quoted("\(event.message)"))"
        if !fields.isEmpty {
            let items = fields.map { "\(LogJSON.quoted($0.key)):\(Self.json($0.value))" }
            line += ",\"metadata\":{\(items.joined(separator: ","))}"
        }
        return line + "}\n"
    }

    private static func json(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): return LogJSON.quoted(text)
        case .stringConvertible(let text): return LogJSON.quoted("\(text)")
        case .array(let items): return "[\(items.map(json).joined(separator: ","))]"
        case .dictionary(let fields):
            let items = fields.sorted { $0.key < $1.key }.map { "\(LogJSON.quoted($0.key)):\(json($0.value))" }
            return "{\(items.joined(separator: ","))}"
        }
    }

    private func text(_ event: LogEvent, time: String, _ fields: [(key: String, value: Logger.MetadataValue)]) -> String
    {
        let level = "\(event.level)"
        let padding = String(repeating: " ", count: max(0, 8 - level.count))
        var line = "\(time.suffix(12)) \(level)\(padding)\(label): \(Self.plain("\(event.message)"))"
        for (key, value) in fields {
            line += " \(key)=\(Self.plain("\(value)"))"
        }
        return line + "\n"
    }

    /// The text itself, or without its control characters.
    private static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: PrintableText.isEscaped) else { return text }
        return String(LogJSON.quoted(text).dropFirst().dropLast())
    }
}

/// One write call per line, so that lines of several threads do not mix.
@Sendable func writeToStandardError(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = write(STDERR_FILENO, start, rest.count)
            // There is no other place to report that standard error is closed.
            if written <= 0 && errno != EINTR { return }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, written)))
        }
    }
}
