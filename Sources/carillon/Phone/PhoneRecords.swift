import Kafka
import NotificationModel
import ServiceSupport

/// Reads the topics for the page, without a consumer group.
struct PhoneRecords: Sendable {
    /// Records of before the start that are told.
    private static let past = Duration.seconds(900)
    /// Of one topic at one time.
    private static let most = 200
    /// The pause after a failure, and when there is nothing new.
    private static let (pause, rest) = (Duration.seconds(1), Duration.milliseconds(50))

    let connection: Connection
    let feed: PhoneFeed
    let now: @Sendable () -> Timestamp

    /// Reads until the task is cancelled.
    func run() async throws {
        let stop = StopSignal()
        try await withTaskCancellationHandler {
            try await KafkaThread.run(name: "phone") { follow(until: stop) }
        } onCancel: {
            stop.request()
        }
    }

    private var topics: [String] {
        let names = connection.topics
        return [names.requests, names.signals, names.deliveries, names.responses, names.deadLetters]
    }

    private func follow(until stop: StopSignal) {
        var start = TopicReader.Start.since(
            Timestamp(rawValue: now().rawValue - Self.past.components.seconds * 1_000)
        )
        while !stop.isRequested {
            do throws(CommandFailure) {
                try read(from: start, until: stop)
            } catch {
                feed.set(.kafka, problem: error.description)
            }
            // What was told is not told again.
            start = .since(now())
            stop.wait(Self.pause)
        }
    }

    private func read(from start: TopicReader.Start, until stop: StopSignal) throws(CommandFailure) {
        var cursors: [TopicCursor] = []
        for topic in topics {
            let reader = TopicReader(connection: connection, topic: topic, start: start, follows: true)
            guard let cursor = try reader.cursor(until: stop) else { return }
            cursors.append(cursor)
        }
        feed.set(.kafka, problem: nil)
        while !stop.isRequested {
            var isIdle = true
            for cursor in cursors {
                var steps: [JSONValue] = []
                for _ in 0..<Self.most {
                    guard case .record(let record) = try cursor.next(within: .milliseconds(1)) else { break }
                    if case .since(let instant) = start, let time = record.timestamp, time < instant.rawValue {
                        continue
                    }
                    steps += PhoneStep.steps(of: record, defaultApplication: connection.defaultApplication, now: now())
                }
                guard !steps.isEmpty else { continue }
                isIdle = false
                feed.add(steps)
            }
            if isIdle { stop.wait(Self.rest) }
        }
    }
}
