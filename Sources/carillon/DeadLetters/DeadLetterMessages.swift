import NotificationModel

/// The records of the dead letters that a topic has, and a filter takes.
struct DeadLetterMessages: MessageSource {
    private let cursor: TopicCursor
    private let filter: DeadLetterFilter
    private let topics: TopicNames
    private var current: StoredDeadLetter?
    /// Wanted positions that were not met yet.
    private var missing: Set<RecordPlace>

    init(_ cursor: TopicCursor, _ filter: DeadLetterFilter, _ topics: TopicNames) {
        (self.cursor, self.filter, self.topics, missing) = (cursor, filter, topics, filter.places)
    }

    var total: Int? { filter.places.isEmpty ? nil : filter.places.count }

    var left: Int { (current == nil ? 0 : 1) + missing.count }

    mutating func next(within time: Duration) throws(CommandFailure) -> SourceStep {
        switch try cursor.next(within: time) {
        case .nothingYet: return .nothingYet
        case .record(let record):
            guard let letter = StoredDeadLetter(record), filter.takes(letter) else { return .nothingYet }
            missing.remove(letter.place)
            current = letter
            return .found(place: "\(letter.place)")
        case .end:
            guard let place = missing.min(by: { ($0.partition, $0.offset) < ($1.partition, $1.offset) }) else {
                return .end
            }
            missing.remove(place)
            return .refused(place: "\(place)", ModelError(.notFound, "there is no such dead letter, or not any more"))
        }
    }

    mutating func make() throws(ModelError) -> OutgoingMessage {
        guard let letter = current else { throw ModelError(.invalid, "no dead letter was found") }
        current = nil
        return try letter.message(to: topics)
    }
}

/// What sending would do, without doing it.
struct DryRun {
    private(set) var summary = SendSummary()

    /// - Parameters:
    ///   - source: What would be sent.
    ///   - isStopped: Asked between two messages.
    ///   - tell: Receives a line for each message that would be sent.
    ///   - trouble: Receives a line for each that would not.
    mutating func run(
        _ source: inout some MessageSource,
        until isStopped: () -> Bool,
        _ tell: (OutgoingMessage) -> Void,
        trouble: (String) -> Void
    ) throws(CommandFailure) {
        while !isStopped() {
            switch try source.next(within: .milliseconds(100)) {
            case .end: return
            case .nothingYet: continue
            case .refused(let place, let error): refuse(place, error, trouble)
            case .found(let place):
                do throws(ModelError) {
                    tell(try source.make())
                    summary.sent += 1
                } catch {
                    refuse(place, error, trouble)
                }
            }
        }
    }

    private mutating func refuse(_ place: String, _ error: ModelError, _ trouble: (String) -> Void) {
        summary.refused += 1
        trouble("\(RecordText.safe(place)): \(RecordText.safe("\(error)"))")
    }

    /// `would send 12, would not send 1`
    var text: String {
        "would send \(SendSummary.grouped(summary.sent)), would not send \(SendSummary.grouped(summary.refused))"
    }
}
