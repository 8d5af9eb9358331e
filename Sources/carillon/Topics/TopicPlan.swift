import NotificationModel

/// A topic of Carillon as it should be: the one table for what is printed, checked and created.
struct TopicPlan: Sendable {
    /// The topic's own name, such as `requests`.
    var name: String
    /// Its full name.
    var topic: String
    /// Settings of Kafka, in the order in which they are written.
    var settings: [(name: String, value: String)]
    var expectations: [TopicExpectation]
    /// What happens without it; nil when the services wait for it.
    var withoutIt: String?
    /// Whether its partitions must be as many as those of `requests`.
    var isCoPartitioned: Bool
}

extension TopicPlan {
    private static let day: Int64 = 86_400_000
    /// The longest outage to survive.
    private static let outage = 7 * day

    /// Its partitions come together: the consumer service does not start with different numbers, except of `tokens`.
    static let coPartitioned: Set<String> = ["requests", "signals", "devices", "state", "tokens"]

    /// All topics.
    ///
    /// - Parameters:
    ///   - names: Their full names.
    ///   - replicas: Of each partition.
    ///   - recordBytes: The largest record that the services write (`message.max.bytes`).
    ///   - deletionsKept: `store.deletions.kept`, in milliseconds.
    static func all(
        _ names: TopicNames,
        replicas: Int,
        recordBytes: Int,
        deletionsKept: Int64
    ) -> [TopicPlan] {
        names.all.map { name, topic in
            var plan = TopicPlan(
                name: name,
                topic: topic,
                settings: [],
                expectations: [],
                withoutIt: nil,
                isCoPartitioned: coPartitioned.contains(name)
            )
            plan.addCleanup()
            plan.addTimes(deletionsKept: deletionsKept)
            plan.addReplication(replicas, recordBytes)
            return plan
        }
    }

    private mutating func expect(
        _ setting: String,
        _ rule: TopicExpectation.Rule,
        isSerious: Bool = true,
        _ consequence: String
    ) {
        expectations.append(
            TopicExpectation(setting: setting, rule: rule, isSerious: isSerious, consequence: consequence)
        )
    }

    private mutating func addCleanup() {
        let policy = "cleanup.policy"
        switch name {
        case "requests":
            settings.append((policy, "compact,delete"))
            expect(policy, .has("delete"), isSerious: false, "requests are kept for ever")
            expect(policy, .has("compact"), isSerious: false, "requests that newer ones replaced take space")
        case "state", "devices", "tokens", "categories":
            settings.append((policy, "compact"))
            expect(policy, .has("compact"), "the topic grows without a bound, and each start reads all of it")
            let lost =
                switch name {
                case "state": "pending notifications are thrown away when their records reach the retention"
                case "devices": "registrations are thrown away when they reach the retention"
                case "tokens": "whose a token is gets forgotten at the retention"
                default: "categories are thrown away at the retention, and notifications lose their actions"
                }
            expect(policy, .lacks("delete"), lost)
            switch name {
            case "tokens": withoutIt = "the service starts, and does not follow tokens that move to another recipient"
            case "categories": withoutIt = "both services start, and notifications have no actions"
            default: break
            }
        default:
            settings.append((policy, "delete"))
            let lost =
                switch name {
                case "signals": "of a recipient's signals only the newest one stays"
                case "deliveries", "responses": "of a notification's events only the newest one stays"
                default: "of records with the same key only the newest one stays"
                }
            expect(policy, .lacks("compact"), lost)
            if name == "business-events" { withoutIt = "the producer service takes no events" }
        }
    }

    private mutating func addTimes(deletionsKept: Int64) {
        let retention = "retention.ms"
        switch name {
        case "requests":
            settings += [(retention, "\(Self.outage)"), ("min.compaction.lag.ms", "\(Self.outage)")]
            expect(
                "min.compaction.lag.ms",
                .atLeast(Self.outage),
                isSerious: false,
                "a request that waits for the consumer service for longer than this can be compacted away, and is not counted"
            )
            fallthrough
        case "signals":
            if name == "signals" { settings.append((retention, "\(Self.outage)")) }
            expect(
                retention,
                .atLeast(Self.outage),
                isSerious: false,
                "what waits for the consumer service for longer than this is lost"
            )
        case "devices":
            settings.append(("delete.retention.ms", "\(Self.outage)"))
            expect(
                "delete.retention.ms",
                .atLeast(Self.outage),
                isSerious: false,
                "after a longer outage of the consumer service a device that left still gets notifications"
            )
        case "state":
            settings += [("segment.ms", "3600000"), ("delete.retention.ms", "\(Self.day)")]
            expect(
                "segment.ms",
                .atMost(Self.day),
                isSerious: false,
                "the newest segment is never compacted, so a start without the store on disk reads more"
            )
            expect(
                "delete.retention.ms",
                .atLeast(deletionsKept + 1),
                "a store on disk that was not used for longer than this brings back notifications that were cancelled: set it "
                    + "above store.deletions.kept"
            )
        default: break
        }
    }

    private mutating func addReplication(_ replicas: Int, _ recordBytes: Int) {
        let minimum = max(1, replicas - 1)
        settings.append(("min.insync.replicas", "\(minimum)"))
        let largest = "max.message.bytes"
        // The default of Kafka.
        if recordBytes > 1_048_588 { settings.append((largest, "\(recordBytes)")) }
        expect(
            largest,
            .atLeast(Int64(recordBytes)),
            "the brokers refuse records that the services may write (message.max.bytes of kafka.properties)"
        )
    }
}
