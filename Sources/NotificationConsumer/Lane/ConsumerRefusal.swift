import NotificationModel

/// Why the consumer service does not start, and what to do: going on would lose something or guess.
package enum ConsumerRefusal: Error, Equatable, CustomStringConvertible {
    case noMarker(topic: String, partition: Int32, records: Int64)
    case gap(topic: String, partition: Int32, marker: Int64, low: Int64, high: Int64)
    case partitionCountChanged(Int32, marker: Int32, now: Int32)
    case partitionCountsDiffer(requests: Int32, state: Int32)
    case changelogCut(topic: String, partition: Int32, low: Int64)
    case stateOfNewerForm(topic: String, partition: Int32, offset: Int64, String)
    case stateUnreadable(topic: String, partition: Int32, offset: Int64, String)

    package var description: String {
        switch self {
        case .noMarker(let topic, let partition, let records):
            "partition \(partition) of \(topic) holds \(records) records and `state` has no marker for it: "
                + "set `consumer.start` to `earliest` to read them all or to `latest` to leave them"
        case .gap(let topic, let partition, let marker, let low, let high):
            "the marker of \(topic) partition \(partition) is at \(marker), the topic holds \(low) to \(high): "
                + "requests are missing; set `consumer.on-gap` to `continue` to go on without them"
        case .partitionCountChanged(let partition, let marker, let now):
            "the marker of partition \(partition) was written with \(marker) partitions, `requests` has \(now): "
                + "recipients would move; copy the topics to new ones with the new count instead"
        case .partitionCountsDiffer(let requests, let state):
            "`requests` has \(requests) partitions and `state` \(state): make them equal"
        case .changelogCut(let topic, let partition, let low):
            "partition \(partition) of \(topic) begins at offset \(low): part of the changelog was thrown away, and with it "
                + "pending notifications. The topic must have `cleanup.policy=compact` and no retention; set "
                + "`consumer.on-gap` to `continue` to go on with what is left"
        case .stateOfNewerForm(let topic, let partition, let offset, let reason):
            "\(topic) partition \(partition) offset \(offset): \(reason)"
        case .stateUnreadable(let topic, let partition, let offset, let reason):
            "\(topic) partition \(partition) offset \(offset) is no record of the changelog (\(reason)): "
                + "nothing else may write to this topic; mend it, or remove the record with a null value under its key"
        }
    }
}
