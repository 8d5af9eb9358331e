import NotificationModel

/// One deterministic run of the consumer service, and in some runs also of the ingest, against simulated Kafka, clocks,
/// disks and devices.
package enum Simulation {
    package struct Options: Sendable {
        package var seed: UInt64
        /// `exactly-once`, or `at-least-once`.
        package var isExactlyOnce: Bool
        package var bugs: Set<PlantedBug>

        package init(seed: UInt64, isExactlyOnce: Bool = true, bug: PlantedBug? = nil) {
            self.init(seed: seed, isExactlyOnce: isExactlyOnce, bugs: bug.map { [$0] } ?? [])
        }

        package init(seed: UInt64, isExactlyOnce: Bool, bugs: Set<PlantedBug>) {
            (self.seed, self.isExactlyOnce, self.bugs) = (seed, isExactlyOnce, bugs)
        }
    }

    package struct Result: Sendable {
        /// The first broken rule; nil if there is none.
        package var violation: Violation?
        package var trace: Trace
        package var requests: Int
        /// Business events that the ingest read.
        package var businessEvents: Int
        /// Notifications that were sent or missed because a device crossed a boundary.
        package var crossings: Int
        /// Responses of persons that came out.
        package var responses: Int
        /// Live Activities that phones showed.
        package var activities: Int
        package var events: Int
        /// Simulated microseconds.
        package var time: Int64
        /// The longest delay of a due notification during undisturbed operation, in microseconds.
        package var lateness: Int64
    }

    /// The same options give the same result, in every process.
    package static func run(_ options: Options) throws -> Result {
        try SeededRun(options).run()
    }
}
