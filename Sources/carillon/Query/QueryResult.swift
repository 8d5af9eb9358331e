import Kafka
import NotificationModel
import NotificationState

/// What the records of `state` say of the notifications that are asked for. Of each key the newest record counts, so it is
/// complete at the end of the topic only.
struct QueryResult {
    /// Notifications of an application, a category and a channel.
    struct Group: Sendable, Hashable {
        var application: String
        var category: String?
        var channel: String?
    }

    /// The numbers of a group, or of all.
    struct Counts: Sendable, Hashable {
        var pending = 0
        var sending = 0
        var delivered = 0

        var all: Int { pending + sending + delivered }

        mutating func add(_ state: QueriedNotification.State, _ number: Int = 1) {
            switch state {
            case .pending: pending += number
            case .sending: sending += number
            case .delivered: delivered += number
            }
        }
    }

    /// What a key counts for: for each state the number of its group, 0 for none.
    private struct Place {
        var groups: (UInt16, UInt16, UInt16) = (0, 0, 0)

        subscript(state: QueriedNotification.State) -> UInt16 {
            get {
                switch state {
                case .pending: groups.0
                case .sending: groups.1
                case .delivered: groups.2
                }
            }
            set {
                switch state {
                case .pending: groups.0 = newValue
                case .sending: groups.1 = newValue
                case .delivered: groups.2 = newValue
                }
            }
        }
    }

    /// Keys that match at one time; about 40 bytes each.
    static let maximumKeys = 20_000_000
    /// Keys whose notifications are kept to be shown.
    static let maximumRows = 100_000
    private static let maximumGroups = 10_000
    /// What further ones count for.
    private static let others = Group(application: "(others)")

    private let filter: QueryFilter
    private let limit: Int
    private let maximumRows: Int
    private let zones: TimeZoneDatabase?
    /// By a hash of the key: two keys with one hash are one, which of millions happens once in a hundred thousand queries.
    private var places: [Int: Place] = [:]
    private var numbers: [Group: UInt16] = [:]
    private var counts: [Counts] = [Counts()]
    /// Some of them, to be shown.
    private var rows: [[UInt8]: [QueriedNotification]] = [:]
    private(set) var unreadable = 0
    /// Whether there were more keys at a time than can be counted.
    private(set) var isOverflowing = false

    /// - Parameters:
    ///   - limit: Of the notifications to show; 0 for none.
    ///   - zones: For calendar triggers.
    init(_ filter: QueryFilter, limit: Int, zones: TimeZoneDatabase?, maximumRows: Int = QueryResult.maximumRows) {
        (self.filter, self.limit, self.zones, self.maximumRows) = (filter, limit, zones, maximumRows)
    }

    mutating func take(_ record: KafkaConsumerRecord) {
        // The marker of a partition has no such key, and a recipient's own record is no notification.
        guard let bytes = record.key, bytes != StateMarker.key, let key = try? NotificationKey(encoded: bytes),
            !key.isWholeRecipient, filter.takes(key)
        else { return }
        replace(bytes, with: notifications(record, key))
    }

    private mutating func notifications(_ record: KafkaConsumerRecord, _ key: NotificationKey) -> [QueriedNotification]
    {
        guard let value = record.value else { return [] }
        do throws(ModelError) {
            let entry = try StateEntry(json: value, zones: zones)
            return QueriedNotification.all(of: entry, under: key).filter(filter.takes)
        } catch {
            unreadable += 1
            return []
        }
    }

    private mutating func replace(_ key: [UInt8], with new: [QueriedNotification]) {
        var hasher = Hasher()
        hasher.combine(key)
        let hash = hasher.finalize()
        if let former = places.removeValue(forKey: hash) {
            for state in QueriedNotification.State.allCases where former[state] > 0 {
                counts[Int(former[state])].add(state, -1)
            }
            rows[key] = nil
        }
        guard !new.isEmpty else { return }
        guard places.count < Self.maximumKeys else {
            isOverflowing = true
            return
        }
        var place = Place()
        for notification in new {
            let group = number(of: notification)
            place[notification.state] = group
            counts[Int(group)].add(notification.state)
        }
        places[hash] = place
        if limit > 0, rows.count < maximumRows { rows[key] = new }
    }

    private mutating func number(of notification: QueriedNotification) -> UInt16 {
        let group = Group(
            application: notification.key.application,
            category: notification.category,
            channel: notification.channel
        )
        if let known = numbers[group] { return known }
        let kept = numbers.count < Self.maximumGroups ? group : Self.others
        if let known = numbers[kept] { return known }
        let number = UInt16(counts.count)
        numbers[kept] = number
        counts.append(Counts())
        return number
    }

    // MARK: - At the end

    var total: Counts {
        counts.reduce(into: Counts()) { total, part in
            for (state, number) in [
                (QueriedNotification.State.pending, part.pending), (.sending, part.sending),
                (.delivered, part.delivered),
            ] { total.add(state, number) }
        }
    }

    /// The groups with any, those with most first.
    var groups: [(group: Group, counts: Counts)] {
        numbers.map { ($0.key, counts[Int($0.value)]) }.filter { $0.1.all > 0 }.sorted { one, other in
            guard one.1.all == other.1.all else { return one.1.all > other.1.all }
            return Self.text(one.0) < Self.text(other.0)
        }
    }

    private static func text(_ group: Group) -> String {
        "\(group.application)\0\(group.category ?? "")\0\(group.channel ?? "")"
    }

    /// Whether what is shown was chosen from a part of all only.
    var isChosenFromPart: Bool { limit > 0 && rows.count < places.count }

    /// At most the limit, those that are due next first.
    var shown: [QueriedNotification] {
        rows.values.flatMap(\.self).sorted { one, other in
            let (a, b) = (one.time?.rawValue ?? .max, other.time?.rawValue ?? .max)
            guard a == b else { return a < b }
            return one.key.encoded.lexicographicallyPrecedes(other.key.encoded)
        }
        .prefix(limit).map(\.self)
    }
}
