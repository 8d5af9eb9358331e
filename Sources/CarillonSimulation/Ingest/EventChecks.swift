import Kafka
import NotificationModel

/// Compares the records of the ingest with the effects that the events must have: each effect once or, without
/// transactions, at least once with the same id; in order by key; and no offset is committed before the effects.
final class EventChecks {
    /// Committed offsets, and the ends of the topics at that time: the effects of the events are before these ends.
    private struct Commit {
        var partition: Int32
        var offsets: Range<Int64>
        var requests: [Int64]
        var letters: [Int64]
    }

    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let group: GroupCoordinator
    private let log: EventLog
    private let isExactlyOnce: Bool
    private let home: (NotificationKey) -> Int32
    private var seen: Set<RequestID> = []
    private var letters: Set<Place> = []
    /// The number of effects of a line that were read.
    private var reached: [EventLog.Line: Int] = [:]
    private var committed: [Int64]
    private var unchecked: [Commit] = []
    /// Events before these offsets have all their effects.
    private var complete: [Int]

    init(
        broker: SimulatedBroker,
        topics: TopicNames,
        group: GroupCoordinator,
        log: EventLog,
        isExactlyOnce: Bool,
        home: @escaping (NotificationKey) -> Int32
    ) {
        (self.broker, self.topics, self.group, self.log) = (broker, topics, group, log)
        (self.isExactlyOnce, self.home) = (isExactlyOnce, home)
        committed = Array(repeating: 0, count: log.events.count)
        complete = Array(repeating: 0, count: log.events.count)
    }

    // MARK: - Records

    /// Checks a record that the ingest wrote to `requests`, and returns it for the reference model.
    func request(_ record: LogRecord, in partition: Int32) throws(Violation) -> PublishedRecord {
        let place = Place(partition: partition, offset: record.offset)
        let (id, key, content) = try parts(of: record, at: place)
        guard let effect = log.effects[id], let line = log.lines[id], effect.key == key else {
            throw Violation(.events, "\(id.text.prefix(8)) \(key.text) at \(place) is not an effect of any event")
        }
        guard partition == home(key) else {
            throw Violation(.events, "\(id.text.prefix(8)) \(key.text) at \(place) belongs to partition \(home(key))")
        }
        if case .request(let request) = effect.content, content != request.content {
            throw Violation(.events, "\(id.text.prefix(8)) at \(place) has the content \(content ?? "nil")")
        }
        if seen.insert(id).inserted {
            let next = reached[line, default: 0]
            guard log.order[line]?[next] == id else {
                throw Violation(.eventOrder, "\(id.text.prefix(8)) \(key.text) at \(place) comes before an earlier one")
            }
            reached[line] = next + 1
        } else if isExactlyOnce {
            throw Violation(.eventOnce, "\(id.text.prefix(8)) \(key.text) at \(place)")
        }
        return PublishedRecord(
            partition: partition,
            offset: record.offset,
            timestamp: Timestamp(rawValue: record.timestamp),
            id: id,
            key: key,
            content: effect.content
        )
    }

    /// - Returns: The content of a request; nil for a removal.
    private func parts(
        of record: LogRecord,
        at place: Place
    ) throws(Violation) -> (RequestID, NotificationKey, String?) {
        do throws(ModelError) {
            let key = try NotificationKey(encoded: record.key ?? [])
            let value = record.value ?? []
            switch try RequestRecord.scan(value, key: key) {
            case .request(let scanned):
                guard let id = scanned.requestID else { break }
                return (id, key, String(decoding: value[scanned.content], as: UTF8.self))
            case .removal(let scanned):
                guard let id = scanned.requestID else { break }
                return (id, key, nil)
            }
        } catch {
            throw Violation(.events, "\(place) cannot be read: \(error.detail)")
        }
        throw Violation(.events, "\(place) has no id")
    }

    /// A dead letter of an event.
    func take(letter record: LogRecord, _ place: Place, _ reason: String) throws(Violation) {
        guard let event = event(at: place), event.letter?.rawValue == reason, event.value == record.value else {
            throw Violation(.events, "event \(place) must not be a dead letter with the reason \(reason)")
        }
        guard letters.insert(place).inserted || !isExactlyOnce else {
            throw Violation(.eventOnce, "the dead letter of event \(place)")
        }
    }

    private func event(at place: Place) -> EventLog.Event? {
        guard log.events.indices.contains(Int(place.partition)) else { return nil }
        let events = log.events[Int(place.partition)]
        return events.indices.contains(Int(place.offset)) ? events[Int(place.offset)] : nil
    }

    // MARK: - Offsets

    /// Checks new committed offsets. Call it after all committed records were passed to this object.
    func follow() throws(Violation) {
        for partition in committed.indices {
            let place = KafkaTopicPartition(topic: topics.businessEvents, partition: Int32(partition))
            guard let offset = group.committed(place), offset > committed[partition] else { continue }
            unchecked.append(
                Commit(
                    partition: Int32(partition),
                    offsets: committed[partition]..<offset,
                    requests: ends(of: topics.requests),
                    letters: ends(of: topics.deadLetters)
                )
            )
            committed[partition] = offset
        }
        guard !unchecked.isEmpty else { return }
        let (requests, letters) = (stableEnds(of: topics.requests), stableEnds(of: topics.deadLetters))
        var waiting: [Commit] = []
        for commit in unchecked {
            guard Self.reaches(requests, commit.requests), Self.reaches(letters, commit.letters) else {
                waiting.append(commit)
                continue
            }
            for offset in commit.offsets {
                guard let what = missing(at: Place(partition: commit.partition, offset: offset)) else { continue }
                throw Violation(.eventOffsets, "\(commit.offsets.upperBound) of \(commit.partition), without \(what)")
            }
        }
        unchecked = waiting
    }

    private func ends(of topic: String) -> [Int64] {
        (0..<broker.partitionCount(of: topic)).map { broker.log(topic, $0).end }
    }

    private func stableEnds(of topic: String) -> [Int64] {
        (0..<broker.partitionCount(of: topic)).map { broker.log(topic, $0).lastStable }
    }

    private static func reaches(_ positions: [Int64], _ ends: [Int64]) -> Bool {
        zip(positions, ends).allSatisfy { $0 >= $1 }
    }

    // MARK: - Missing effects

    /// A missing effect of an event; nil if there is none.
    private func missing(at place: Place) -> String? {
        guard let event = event(at: place) else { return nil }
        if event.letter != nil, !letters.contains(place) { return "the dead letter of event \(place)" }
        let effect = event.effects.first { !seen.contains($0) }
        return effect.map { "\($0.text.prefix(8)), an effect of event \(place)" }
    }

    /// A missing effect of any event so far; nil if there is none.
    var unfinished: String? {
        for partition in complete.indices {
            while complete[partition] < log.events[partition].count {
                let place = Place(partition: Int32(partition), offset: Int64(complete[partition]))
                if let what = missing(at: place) { return what }
                complete[partition] += 1
            }
        }
        return nil
    }
}
