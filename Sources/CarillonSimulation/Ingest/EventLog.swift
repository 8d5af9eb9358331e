import Kafka
import NotificationModel

/// The published business events with the effects that the rules must give them. It shares no code with the rules except
/// the derivation of ids.
final class EventLog {
    /// A record in `requests` that an event must cause.
    struct Effect {
        var id: RequestID
        var key: NotificationKey
        var content: PublishedRecord.Content
    }

    struct Event {
        var effects: [RequestID] = []
        /// Why it becomes a dead letter; nil if it does not.
        var letter: ReasonCode?
        var value: [UInt8]?
    }

    /// The effects of one key from one partition occur in the order of the events.
    struct Line: Hashable {
        var partition: Int32
        var key: NotificationKey
    }

    static let rules = """
        rules:
          - name: placed
            event: shop.placed
            when: "{{data.notify}}"
            recipient: "{{data.user}}"
            identifier: "{{data.thing}}"
            content: {title: "Event {{id}}"}
          - name: later
            event: shop.placed
            when: "{{data.remind}}"
            recipient: "{{data.user}}"
            identifier: "later-{{data.thing}}"
            content: {title: "Remember {{id}}"}
            trigger: {type: timeInterval, timeInterval: 30}
          - name: dropped
            event: shop.dropped
            recipient: "{{data.user}}"
            cancel: "{{data.thing}}"
            state: all
          - name: news
            event: shop.news
            recipients: "{{data.users}}"
            identifier: news
            content: {title: "News {{id}}"}
        """
    private static let source = "/shop"

    private let broker: SimulatedBroker
    private let topic: String
    private let note: (String) -> Void
    private var random: SeededGenerator
    private var number = 0
    /// By partition; the index is the offset.
    private(set) var events: [[Event]]
    private(set) var effects: [RequestID: Effect] = [:]
    private(set) var lines: [RequestID: Line] = [:]
    /// In the order of the events.
    private(set) var order: [Line: [RequestID]] = [:]

    init(broker: SimulatedBroker, topic: String, random: SeededGenerator, note: @escaping (String) -> Void) {
        (self.broker, self.topic, self.random, self.note) = (broker, topic, random, note)
        events = Array(repeating: [], count: Int(broker.partitionCount(of: topic)))
    }

    /// Publishes one event of any kind.
    func publish() {
        number += 1
        let user = "user-\(random.index(4))"
        let thing = "id-\(random.index(4))"
        switch random.index(20) {
        case 0..<11:
            let (notify, remind) = (random.chance(800), random.chance(300))
            let data = "{\"user\":\"\(user)\",\"thing\":\"\(thing)\",\"notify\":\(notify),\"remind\":\(remind)}"
            var effects: [(rule: String, key: NotificationKey?, PublishedRecord.Content)] = []
            if notify { effects.append(("placed", key(user, thing), .request(.init(content: title("Event"))))) }
            if remind {
                let request = PublishedRecord.Request(interval: 30_000, content: title("Remember"))
                effects.append(("later", key(user, "later-\(thing)"), .request(request)))
            }
            append("shop.placed", of: user, data, effects)
        case 11..<14:
            let data = "{\"user\":\"\(user)\",\"thing\":\"\(thing)\"}"
            append("shop.dropped", of: user, data, [("dropped", key(user, thing), .removal(.all, version: nil))])
        case 14..<17:
            let users = (0..<Int(random.number(1...6))).map { "user-\($0)" }
            let list = users.map { "\"\($0)\"" }.joined(separator: ",")
            append(
                "shop.news",
                of: "news",
                "{\"users\":[\(list)]}",
                users.map { ("news", key($0, "news"), .request(.init(content: title("News")))) }
            )
        case 17: append("shop.unknown", of: user, "{}", [], letter: .noRule)
        case 18: append("shop.dropped", of: user, "{\"user\":\"\(user)\"}", [], letter: .missingVariable)
        default: append("shop.dropped", of: user, "{\"user\":", [], letter: .invalid)
        }
    }

    private var id: String { "event-\(number)" }

    private func title(_ word: String) -> String { "{\"title\":\"\(word) \(id)\"}" }

    private func key(_ recipient: String, _ identifier: String) -> NotificationKey? {
        try? NotificationKey(application: "shop", recipient: recipient, identifier: identifier)
    }

    private func append(
        _ type: String,
        of subject: String,
        _ data: String,
        _ effects: [(rule: String, key: NotificationKey?, content: PublishedRecord.Content)],
        letter: ReasonCode? = nil
    ) {
        let event = BusinessEvent(id: id, source: Self.source, type: type, subject: subject, data: Array(data.utf8))
        let partition = KafkaPartitioner.partition(forKey: event.kafkaKey, count: Int32(events.count))
        var made = Event(letter: letter, value: event.kafkaValue)
        for (rule, key, content) in effects {
            guard let key else { continue }
            let requestID = RequestID.derive(source: Self.source, id: id, rule: rule, key: key)
            let line = Line(partition: partition, key: key)
            self.effects[requestID] = Effect(id: requestID, key: key, content: content)
            lines[requestID] = line
            order[line, default: []].append(requestID)
            made.effects.append(requestID)
        }
        let headers = event.kafkaHeaders().map { KafkaHeader(name: $0.name, value: $0.value) }
        let record = LogRecord(timestamp: broker.wall, key: event.kafkaKey, value: event.kafkaValue, headers: headers)
        let offset = broker.append(record, to: topic, partition)
        events[Int(partition)].append(made)
        note("writes \(type) \(id) at \(partition)/\(offset): \(data)")
    }
}
