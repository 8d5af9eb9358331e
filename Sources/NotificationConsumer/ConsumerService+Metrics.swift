import Kafka
import NotificationModel
import NotificationState
import ServiceSupport

/// What `/metrics` says about the service as a whole; `LaneMetrics` counts what each lane does.
extension ConsumerService {
    /// Describes the lanes' counters and histograms, and adds gauges over all lanes to each page.
    static func describeLanes(_ statuses: [LaneStatus], topics: TopicNames, in registry: PrometheusRegistry) {
        registry.describe("requests", "Requests and removals read, by outcome.")
        registry.describe("signals", "Signals read, by outcome.")
        registry.describe("device.registrations", "Registrations of devices, and their ends, by outcome.")
        registry.describe("response.events", "Events published on responses.")
        registry.describe(
            "categories.unknown",
            "Notifications whose category was not known; they were delivered plainly."
        )
        registry.describe("events.shortened", "Events that did not fit a record as a whole, and lack some parts.")
        registry.describe(UnsaidMembers.metric, UnsaidMembers.help)
        registry.describe("notification.events", "Events published, by name.")
        registry.describe(
            "notifications.requested",
            "Requests that were neither duplicates nor dead letters, and digests; each is open until it is closed."
        )
        registry.describe("notifications.closed", "Requests and digests that were closed, by the name of the event.")
        registry.describe("dead.letters", "Records rejected as dead letters, by reason.")
        registry.describe("center.entries.forgotten.early", "Entries forgotten early because of the limit.")
        registry.describe("schedule.deviation", "Lateness of timers at hand-over.")
        registry.describe(
            "schedule.zones.missing",
            "Entries read that wait for a time in a zone which the time zone database does not have."
        )
        registry.describe("checkpoint.duration", "Time from the cut of a checkpoint to its commit.")
        registry.describe("restore.duration", "Time from the assignment of partitions until they are processed.")
        registry.describe("transactions.aborted", "Aborted transactions.")
        registry.describe("state.records.without.key", "Records of state without a key, skipped at a restore.")
        registry.describe(
            "delivery.latency",
            "Time from a request, or from when its trigger was due, until a channel accepted its notification, by channel."
        )
        registry.describe(
            "checkpoint.success.timestamp.seconds",
            "When a checkpoint was last committed, in seconds since 1970, by lane; 0 before the first. Idle lanes make none."
        )
        registry.describe("lane.restarts", "Restarts of a lane at its marker after a failure.")
        registry.describe(
            "consumer.rebalances",
            "Rebalances in which partitions of this process were assigned, revoked or lost, by event."
        )
        registry.describe("sends.timed.out", "Sends that the channel did not answer in time; they are retried.")
        registry.describe("channel.outcomes.late", "Late or duplicate answers of channels.")
        registry.describe("enrichments.late", "Results of enrichments that nothing waits for any more.")
        registry.collect { page in
            for (code, count) in KafkaClientErrors.counts {
                page.counter(
                    "kafka.client.errors",
                    help: "Errors reported by the Kafka client library, by code; it recovers from most of them.",
                    value: Double(count),
                    labels: [("code", code)]
                )
            }
            let lanes = statuses.map(\.snapshot)
            func total(_ part: (LaneStatus.Snapshot) -> Int) -> Double { Double(lanes.reduce(0) { $0 + part($1) }) }
            page.gauge(
                "schedule.pending",
                help: "Notifications that are scheduled or held, and not sent yet.",
                value: total(\.pending)
            )
            for state in OpenState.allCases {
                page.gauge(
                    "open",
                    help: "Requests and digests that are not closed, by what they wait for.",
                    value: total { $0.open[state] },
                    labels: [("state", state.name)]
                )
            }
            page.gauge(
                "center.entries",
                help: "Entries kept, pending and remembered.",
                value: total(\.entries)
            )
            page.gauge(
                "center.recipients",
                help: "Recipients with devices, regions or digests, and owners of tokens.",
                value: total(\.recipients)
            )
            page.gauge(
                "outstanding.records",
                help: "Events that the broker has not acknowledged yet.",
                value: total(\.outstanding)
            )
            page.gauge(
                "outstanding.sends",
                help: "Sends that the channel has not answered yet.",
                value: total(\.sends)
            )
            page.gauge(
                "oldest.due.age.seconds",
                help: "Lateness of the oldest due timer that is not sent yet.",
                value: Double(lanes.map(\.oldestDueAge).max() ?? 0) / 1000
            )
            page.gauge(
                "assigned.partitions",
                help: "Partitions that this process owns.",
                value: total(\.assigned)
            )
            page.gauge(
                "center.entries.resident",
                help: "Entries in memory.",
                value: total(\.resident)
            )
            page.gauge(
                "store.unwritten.changes",
                help: "Committed changes that the disk stores have not written yet.",
                value: total(\.unwritten)
            )
            page.gauge(
                "store.troubled.partitions",
                help: "Partitions whose store files cannot be opened or written; their entries are kept in memory.",
                value: total(\.troubledStores)
            )
            page.gauge(
                "restore.remaining.records",
                help: "Changelog records still to be read before partitions are processed.",
                value: Double(lanes.reduce(0) { $0 + ($1.restoring.map { $0.of - $0.read } ?? 0) })
            )
            for (place, lag) in lanes.flatMap({ $0.lag }) {
                page.gauge(
                    "consumer.lag.records",
                    help: "Records between the read position and the end of the partition.",
                    value: Double(lag),
                    labels: [("topic", topics[place.input]), ("partition", "\(place.partition)")]
                )
            }
        }
    }

    static func describeStores(_ writers: StoreWriters, _ parked: ParkedStores, in registry: PrometheusRegistry) {
        registry.collect { page in
            page.gauge(
                "store.disk.bytes",
                help: "Disk space used by the store files and their logs.",
                value: Double(writers.diskBytes)
            )
            page.gauge(
                "store.parked.bytes",
                help: "Approximate memory used by entries of revoked partitions that may be assigned again.",
                value: Double(parked.bytes)
            )
        }
    }
}
