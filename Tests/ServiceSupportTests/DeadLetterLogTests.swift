import Logging
import NotificationModel
import Synchronization
import Testing

@testable import ServiceSupport

@Suite("The log of dead letters")
struct DeadLetterLogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var taken: [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let metadata = event.metadata ?? [:]
            let words = ["reason", "field", "kafka.topic", "kafka.offset", "count"].compactMap {
                metadata[$0].map { "\($0)" }
            }
            lines.add(words.joined(separator: " "))
        }
    }

    private let lines = Lines()
    private let start = ContinuousClock.now
    private var logger: Logger { Logger(label: "test") { [lines] _ in Handler(lines: lines) } }

    @Test func `the first of a kind is told at once, the others as a number a minute later`() {
        var log = DeadLetterLog()
        func note(_ field: String, _ offset: Int64, after seconds: Int) {
            log.note(
                ModelError(.invalid, field: field, "wrong"),
                at: .init(topic: "t", partition: 0, offset: offset),
                start + .seconds(seconds),
                logger
            )
        }
        note("a", 1, after: 0)
        note("b", 2, after: 1)
        #expect(lines.taken == ["invalid a t 1", "invalid b t 2"])
        for offset in 3...9 as ClosedRange<Int64> { note("a", offset, after: 2) }
        log.flush(at: start + .seconds(59), logger)
        #expect(lines.taken.isEmpty)
        log.flush(at: start + .seconds(60), logger)
        #expect(lines.taken == ["invalid a t 9 7"])
        // It went on: a number again, and not a first one.
        note("a", 10, after: 61)
        log.flush(at: start + .seconds(120), logger)
        #expect(lines.taken == ["invalid a t 10 1"])
        log.flush(at: start + .seconds(180), logger)
        note("a", 11, after: 181)
        note("a", 12, after: 182)
        #expect(lines.taken == ["invalid a t 11"])
        log.end(logger)
        #expect(lines.taken == ["invalid a t 12 1"])
    }

    @Test func `fields from records do not make more and more kinds`() {
        var log = DeadLetterLog()
        for number in 0..<10_000 {
            log.note(
                ModelError(.unknownField, field: "content.x\(number)", "unknown"),
                at: .init(topic: "t", partition: 0, offset: 0),
                start,
                logger
            )
        }
        #expect(lines.taken.count == 101)
    }
}
