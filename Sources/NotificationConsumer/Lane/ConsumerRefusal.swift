import NotificationModel

/// Why the consumer service does not start, and what to do: continuing would lose or guess something.
package enum ConsumerRefusal: Error, Equatable, CustomStringConvertible {
    case noMarker(topic: String, partition: Int32, records: Int64)
    case gap(topic: String, partition: Int32, marker: Int64, low: Int64, high: Int64)
    case partitionCountChanged(Int32, marker: Int32, now: Int32)
    case partitionCountsDiffer(PartitionCounts)
    /// The assignment does not contain the same partitions of every input.
    case inputsApart(partition: Int32, missing: [String])
    case changelogCut(topic: String, partition: Int32, low: Int64)
    case stateOfNewerForm(topic: String, partition: Int32, offset: Int64, String)
    /// - Parameter reason: the reason for the first place.
    case stateUnreadable(topic: String, places: [Place], reason: String, brokers: [String])

    /// The position of a record.
    package struct Place: Hashable, Sendable {
        package var partition: Int32
        package var offset: Int64
    }

    package var description: String {
        switch self {
        case .noMarker(let topic, let partition, let records):
            "partition \(partition) of \(topic) holds \(records) records and `state` has no marker for it, although it was "
                + "processed before: its first requests are gone, `state` holds records of it, or the group has an offset "
                + "for it. Set `consumer.start` to `earliest` to read all requests or to `latest` to skip them"
        case .gap(let topic, let partition, let marker, let low, let high):
            "the marker of \(topic) partition \(partition) is at \(marker), the topic holds \(low) to \(high): "
                + "requests are missing; set `consumer.on-gap` to `continue` to proceed without them"
        case .partitionCountChanged(let partition, let marker, let now):
            "the marker of partition \(partition) was written with \(marker) partitions, the topics have \(now): "
                + "recipients would move; copy the topics to new ones with the new count instead"
        case .partitionCountsDiffer(let counts):
            "\(counts): make them equal"
        case .inputsApart(let partition, let missing):
            "the group assigned partition \(partition) without that of \(missing.joined(separator: ", ")): all members of the "
                + "group must read the same topics; stop members with another version or other topic names"
        case .changelogCut(let topic, let partition, let low):
            "partition \(partition) of \(topic) begins at offset \(low): part of the changelog was thrown away, and with it "
                + "pending notifications. The topic must have `cleanup.policy=compact` and no retention; set "
                + "`consumer.on-gap` to `continue` to proceed with the remaining records"
        case .stateOfNewerForm(let topic, let partition, let offset, let reason):
            "\(topic) partition \(partition) offset \(offset): \(reason)"
        case .stateUnreadable(let topic, let places, let reason, let brokers):
            Self.unreadable(topic, places, reason, brokers)
        }
    }

    /// The maximum number of places in one refusal and its command.
    private static let namedPlaces = 50

    private static func unreadable(_ topic: String, _ places: [Place], _ reason: String, _ brokers: [String]) -> String
    {
        let others = places.count > 1 ? ", and \(places.count - 1) others are not valid either" : ""
        let named = places.prefix(namedPlaces).map { "\($0.partition):\($0.offset)" }.joined(separator: " ")
        let first = places.first ?? Place(partition: 0, offset: 0)
        return "\(topic) partition \(first.partition) offset \(first.offset) is not a valid changelog record "
            + "(\(reason))\(others): no other program may write to this topic. To remove records that are not needed, run: "
            + "carillon state remove \(named) --topic \(topic) --bootstrap-servers '\(brokers.joined(separator: ","))'"
    }
}
