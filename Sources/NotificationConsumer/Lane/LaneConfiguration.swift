package import ServiceSupport

/// Where a lane begins, and how much it has at one time.
package struct LaneConfiguration: Sendable {
    /// Where to start without a marker.
    package enum Start: String, CaseIterable, Sendable {
        /// Read every request of an unused partition; otherwise report an error and stop.
        case refuse
        /// Read every request in the topic.
        case earliest
        /// Read only new requests.
        case latest
    }

    /// What to do when the topic has lost requests after the marker.
    package enum Gap: String, CaseIterable, Sendable {
        /// Report an error and stop.
        case refuse
        /// Continue with the remaining requests.
        case `continue`
    }

    /// Where to start without a marker.
    package var start = Start.refuse
    /// What to do when requests are lost.
    package var gap = Gap.refuse
    /// Time between two checkpoints.
    package var checkpointInterval = Duration.milliseconds(100)
    /// Changed entries of a lane that trigger a checkpoint early.
    package var checkpointEntries = 20_000
    /// Events of a lane that may wait for the broker.
    package var outstandingRecords = 50_000
    /// Sends of a lane that may have no outcome.
    package var outstandingSends = 2000
    /// Those of them that the channel has.
    package var concurrentSends = 500
    /// Sends of the process in a second; 0 for no limit.
    package var sendRate = 0
    /// Sends that may begin at once after a pause.
    package var sendBurst = 100
    /// How long a channel has to answer.
    package var sendTimeout = Duration.seconds(30)

    package init() {}

    /// Reads `consumer.start` to `consumer.send.timeout`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        start = settings.oneOf(
            "consumer.start",
            default: start,
            about: """
                Where to start without a marker when the topic is not empty. With `refuse` an unused partition \
                is read from its first request: unused means that `requests` begins at offset 0, the partition's \
                part of `state` is empty, and the group has no offset for it.
                """
        )
        gap = settings.oneOf(
            "consumer.on-gap",
            default: gap,
            about: """
                What to do when requests after the marker, or parts of the changelog, are lost. If the requests topic \
                ends before the marker, it was recreated: `continue` reads it from its beginning.
                """
        )
        checkpointInterval = settings.duration(
            "consumer.checkpoint.interval",
            default: checkpointInterval,
            in: .milliseconds(10) ... .seconds(2),
            about: """
                How long changes are collected before they are made durable; with `exactly-once` the delay for \
                readers of `deliveries`.
                """
        )
        checkpointEntries = settings.int(
            "consumer.checkpoint.entries",
            default: checkpointEntries,
            in: 100...1_000_000,
            about: """
                Changed entries of a lane that trigger a checkpoint before its interval ends; at twice as many \
                reading pauses.
                """
        )
        outstandingRecords = settings.int(
            "consumer.outstanding.records",
            default: outstandingRecords,
            in: 100...1_000_000,
            about: "Events of a lane waiting for the broker; at the limit reading pauses."
        )
        outstandingSends = settings.int(
            "consumer.outstanding.sends",
            default: outstandingSends,
            in: 1...1_000_000,
            about: """
                Sends of a lane without an outcome; at the bound reading and timers pause. While four \
                times as many sends of a channel end within 100 ms as it has at one time, reading pauses at that \
                number. The channel `events` has none.
                """
        )
        concurrentSends = settings.int(
            "consumer.concurrent.sends",
            default: concurrentSends,
            in: 1...1_000_000,
            about: """
                Sends of a lane that the channel has at one time; the others wait, and a removal can still stop them. \
                Time-sensitive and critical ones may exceed it by a tenth, unless the channel has a bound of its own.
                """
        )
        sendRate = settings.int(
            "consumer.send.rate",
            default: sendRate,
            in: 0...1_000_000,
            about: """
                Sends of the process in a second, which its lanes share equally; 0 for no limit. The others wait: \
                time-sensitive before active before passive ones.
                """
        )
        sendBurst = settings.int(
            "consumer.send.burst",
            default: sendBurst,
            in: 1...1_000_000,
            about: "With a rate, how many sends may begin at once after a pause."
        )
        sendTimeout = settings.duration(
            "consumer.send.timeout",
            default: sendTimeout,
            in: .milliseconds(10) ... .seconds(600),
            about: "How long the channel has to answer a send; then it has failed, and is tried again after a pause."
        )
    }
}
