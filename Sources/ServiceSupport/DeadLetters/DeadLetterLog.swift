package import Logging
package import NotificationModel

/// Logs dead letters: the first of a kind at once, with its place, and how many more there were once a minute, so that a
/// flood of bad records does not become one of log lines. The metric counts all of them.
package struct DeadLetterLog {
    /// Where the record is.
    package struct Place: Hashable, Sendable {
        var topic: String
        var partition: Int32
        var offset: Int64

        package init(topic: String, partition: Int32, offset: Int64) {
            (self.topic, self.partition, self.offset) = (topic, partition, offset)
        }
    }

    private struct Kind: Hashable {
        var topic: String
        var reason: ReasonCode
        /// Nil also when there are too many kinds: a field's name may come from the record.
        var field: String?
    }

    private struct Tally {
        var count = 0
        var last: Place
        var told: ContinuousClock.Instant
    }

    private static let pause = Duration.seconds(60)
    private static let maximumKinds = 100
    private var tallies: [Kind: Tally] = [:]

    package init() {}

    /// Notes a dead letter.
    package mutating func note(
        _ error: ModelError,
        at place: Place,
        _ now: ContinuousClock.Instant,
        _ logger: Logger
    ) {
        var kind = Kind(topic: place.topic, reason: error.reason, field: error.field.map { String($0.prefix(100)) })
        if tallies.count >= Self.maximumKinds, tallies[kind] == nil { kind.field = nil }
        if tallies[kind] != nil {
            tallies[kind]?.count += 1
            tallies[kind]?.last = place
        } else {
            tallies[kind] = Tally(last: place, told: now)
            logger.warning("dead letter", metadata: Self.metadata(kind, place))
        }
    }

    /// Tells what came since; a kind that did not come for a minute is new again.
    package mutating func flush(at now: ContinuousClock.Instant, _ logger: Logger) {
        for (kind, tally) in tallies where tally.told + Self.pause <= now {
            guard tally.count > 0 else {
                tallies[kind] = nil
                continue
            }
            tell(tally, of: kind, logger)
            tallies[kind] = Tally(last: tally.last, told: now)
        }
    }

    /// Tells everything that was not told.
    package mutating func end(_ logger: Logger) {
        for (kind, tally) in tallies where tally.count > 0 { tell(tally, of: kind, logger) }
        tallies = [:]
    }

    private func tell(_ tally: Tally, of kind: Kind, _ logger: Logger) {
        var metadata = Self.metadata(kind, tally.last)
        metadata[LogMetadata.count] = "\(tally.count)"
        logger.warning("more dead letters; this is the place of the last", metadata: metadata)
    }

    private static func metadata(_ kind: Kind, _ place: Place) -> Logger.Metadata {
        [
            LogMetadata.reason: "\(kind.reason.rawValue)", "field": "\(kind.field ?? "")",
            LogMetadata.topic: "\(place.topic)",
            LogMetadata.partition: "\(place.partition)", LogMetadata.offset: "\(place.offset)",
        ]
    }
}
