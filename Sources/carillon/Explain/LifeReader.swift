import Kafka
import NotificationModel
import NotificationState
import ServiceSupport

/// What `carillon explain` tells of a notification, part by part.
enum LifePart {
    /// A record that concerns it.
    case step(KafkaConsumerRecord)
    /// What the consumer service keeps of it: the newest record of its entry in `state`; nil when there is none.
    case now(KafkaConsumerRecord?)
    /// Records of a topic before this one are gone, by retention or compaction.
    case gone(topic: String, before: Timestamp?)
    /// Only the newest steps are told.
    case dropped(Int)
}

/// Reads what the topics have of one notification, on the calling thread.
struct LifeReader: Sendable {
    let connection: Connection
    let key: NotificationKey
    let since: Timestamp?
    let until: Timestamp?
    let follows: Bool
    /// How many steps of the past are kept: the newest.
    var maximumSteps = 10_000

    /// The topics, in the order in which records of one instant are told.
    private var topics: [String] {
        let names = connection.topics
        return [names.requests, names.signals, names.deliveries, names.responses, names.deadLetters]
    }

    /// - Parameter tell: receives each part, in order.
    /// - Returns: whether there was anything.
    /// - Throws: ``CommandFailure``.
    func read(until stop: StopSignal, _ tell: (LifePart) -> Void) throws(CommandFailure) -> Bool {
        // They begin before the past is read, so that nothing falls between.
        var following: [TopicCursor] = []
        if follows {
            for topic in topics {
                guard let cursor = try reader(of: topic, from: .end, follows: true).cursor(until: stop) else {
                    return false
                }
                following.append(cursor)
            }
        }
        let filter = LifeFilter(key, connection)
        var life = Life(maximum: maximumSteps)
        for (rank, topic) in topics.enumerated() {
            try read(topic, ranked: rank, filter, into: &life, until: stop)
        }
        let steps = life.sorted()
        for gone in life.gone { tell(gone) }
        if life.dropped > 0 { tell(.dropped(life.dropped)) }
        for step in steps { tell(.step(step)) }
        let state = try newestState(until: stop)
        let isFound = !steps.isEmpty || state != nil
        if isFound, until == nil { tell(.now(state)) }
        guard follows, !stop.isRequested else { return isFound }
        // What was written while the past was read is in both.
        let told = Set(steps.map(Life.Place.init))
        while !stop.isRequested {
            for cursor in following {
                guard case .record(let record) = try cursor.next(within: .milliseconds(50)) else { continue }
                if filter.takes(record), !told.contains(Life.Place(record)) { tell(.step(record)) }
            }
        }
        return true
    }

    private func reader(of topic: String, from start: TopicReader.Start, follows: Bool = false) -> TopicReader {
        // The partition of a dead letter is that of no recipient.
        let isPartitioned = topic != connection.topics.deadLetters
        return TopicReader(
            connection: connection,
            topic: topic,
            start: start,
            follows: follows,
            recipient: isPartitioned ? key.recipient : nil
        )
    }

    private func read(
        _ topic: String,
        ranked rank: Int,
        _ filter: LifeFilter,
        into life: inout Life,
        until stop: StopSignal
    ) throws(CommandFailure) {
        var known: Set<Int32> = []
        let reader = reader(of: topic, from: since.map { .since($0) } ?? .beginning)
        let isWanted = { (message: borrowing KafkaMessage) in
            if known.insert(message.partition).inserted, message.offset > 0, since == nil {
                let time = message.timestamp.map { Timestamp(rawValue: $0) }
                life.gone.append(.gone(topic: topic, before: time))
            }
            return message.key().map(filter.mayTake) ?? false
        }
        try reader.read(until: stop, where: isWanted) { record in
            let time = record.timestamp.map { Timestamp(rawValue: $0) }
            if let time, since.map({ time < $0 }) ?? false || until.map({ time > $0 }) ?? false { return true }
            if filter.takes(record) { life.add(record, rank) }
            return true
        }
    }

    private func newestState(until stop: StopSignal) throws(CommandFailure) -> KafkaConsumerRecord? {
        var newest: KafkaConsumerRecord?
        let encoded = key.encoded
        let reader = reader(of: connection.topics.state, from: .beginning)
        try reader.read(until: stop, where: { $0.key() == encoded }) { record in
            newest = record
            return true
        }
        return newest.flatMap { $0.value == nil ? nil : $0 }
    }
}

/// The newest steps that were found.
private struct Life {
    struct Place: Hashable {
        let topic: String
        let partition: Int32
        let offset: Int64

        init(_ record: KafkaConsumerRecord) {
            (topic, partition, offset) = (record.topic, record.partition, record.offset)
        }
    }

    private let maximum: Int
    private var steps: [(record: KafkaConsumerRecord, rank: Int)] = []
    private(set) var dropped = 0
    var gone: [LifePart] = []

    init(maximum: Int) { self.maximum = maximum }

    mutating func add(_ record: KafkaConsumerRecord, _ rank: Int) {
        steps.append((record, rank))
        if steps.count >= 2 * maximum { dropOldest() }
    }

    /// In the order of the records' times, and then of the topics.
    mutating func sorted() -> [KafkaConsumerRecord] {
        dropOldest()
        return steps.map(\.record)
    }

    private mutating func dropOldest() {
        steps.sort { one, other in
            let (a, b) = (one.record, other.record)
            return (a.timestamp ?? 0, one.rank, a.partition, a.offset)
                < (b.timestamp ?? 0, other.rank, b.partition, b.offset)
        }
        let surplus = max(0, steps.count - maximum)
        steps.removeFirst(surplus)
        dropped += surplus
    }
}

/// Selects the records that concern one notification.
struct LifeFilter: Sendable {
    private let key: NotificationKey
    private let encoded: [UInt8]
    private let everything: [UInt8]
    private let recipient: [UInt8]
    private let defaultApplication: String

    init(_ key: NotificationKey, _ connection: Connection) {
        self.init(key, defaultApplication: connection.defaultApplication)
    }

    init(_ key: NotificationKey, defaultApplication: String) {
        (self.key, self.defaultApplication) = (key, defaultApplication)
        (encoded, everything, recipient) = (key.encoded, key.ofRecipient.encoded, Array(key.recipient.utf8))
    }

    /// Whether a record with this key may concern it.
    func mayTake(_ found: [UInt8]) -> Bool {
        // Also the removal of all that the recipient has.
        found == encoded || found == recipient || found.starts(with: everything)
    }

    func takes(_ record: KafkaConsumerRecord) -> Bool {
        guard let found = record.key, mayTake(found) else { return false }
        if found == encoded || found == everything { return true }
        guard let value = record.value.flatMap({ try? JSONValue.parse($0) }) else { return false }
        guard found != recipient else {
            let application = value["application"]?.stringValue ?? defaultApplication
            return application == key.application && value["identifier"]?.stringValue == key.identifier
        }
        // A device that has left may still show it.
        return value["shows"]?.arrayValue?.contains { $0.stringValue == key.identifier } ?? false
    }
}
