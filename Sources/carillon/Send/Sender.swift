import Kafka
import NotificationModel
import ServiceSupport

/// Publishes the messages of a source in order, on the calling thread.
///
/// At most `maximumInFlight` records wait for their acknowledgement; each is acknowledged or failed within the timeout.
struct Sender {
    struct Configuration: Sendable {
        var connection: Connection
        /// Of messages that name none.
        var topic: String?
        /// Records per second; nil for no limit.
        var rate: Double?
        /// Whether to continue after invalid messages and refused records.
        var keepsGoing = false
        var maximumInFlight = 10_000
    }

    /// Callbacks for the output, on the sending thread.
    struct Output {
        /// A record was acknowledged.
        var acknowledged: (MessageLabel, _ partition: Int32, _ offset: Int64) -> Void
        /// A message could not be sent, or was refused.
        var trouble: (String) -> Void
        /// Called often.
        var progress: (SendSummary) -> Void
    }

    /// How many failures of the broker are reported individually; further ones are only counted.
    private static let toldFailures = 10
    /// Records between two checks of the reports.
    private static let turn = 256

    private struct Target {
        var topic: KafkaTopicHandle
        var partitions: Int32
    }

    private let configuration: Configuration
    private let output: Output
    private let stop: StopSignal
    private let now: () -> ContinuousClock.Instant
    private let lane: KafkaLaneProducer
    private var targets: [String: Target] = [:]
    private var summary = SendSummary()
    /// Records in flight, by tag.
    private var inFlight: [UInt: MessageLabel] = [:]
    private var nextTag: UInt = 0
    /// A message that was created and not accepted yet; if sending stops first, it counts as unsent.
    private var pending: OutgoingMessage?
    /// Whether the source has ended.
    private var hasEnded = false
    private var bucket: TokenBucket?
    private var begin: ContinuousClock.Instant

    /// Connects.
    ///
    /// - Parameter now: The clock for the rate and the deadline.
    /// - Returns: Nil when a stop was requested before a broker answered.
    /// - Throws: ``CommandFailure``.
    init?(
        _ configuration: Configuration,
        stop: StopSignal,
        output: Output,
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) throws(CommandFailure) {
        self.now = now
        self.configuration = configuration
        self.output = output
        self.stop = stop
        do throws(KafkaError) {
            var producer = KafkaProducerConfiguration(
                client: configuration.connection.client("carillon-send"),
                deliveryTimeout: configuration.connection.timeout
            )
            // Records are often the first of new topics: an acknowledgement must be reliable.
            producer.maximumRequestsInFlight = 1
            lane = try KafkaLaneProducer(
                configuration: producer,
                logger: configuration.connection.log.logger("carillon send")
            )
        } catch {
            // librdkafka accepts all other properties: only an option or the environment can be wrong.
            throw CommandFailure(error.reason, status: ExitStatus.usage)
        }
        begin = now()
        if let name = configuration.topic {
            var isFound = false
            defer { if !isFound { lane.close(within: .zero) } }
            isFound = try find(name) != nil
            guard isFound else { return nil }
        }
        begin = now()
        bucket = configuration.rate.map { TokenBucket(perSecond: $0, now: begin) }
    }

    /// Sends until the source ends, an error occurs, or a stop is requested; then waits for the acknowledgements.
    mutating func run(_ source: inout some MessageSource) -> SendSummary {
        do throws(CommandFailure) {
            while !mustEnd, try send(&source) { tell() }
            summary.unsent = source.left + (pending == nil ? 0 : 1)
            if !hasEnded, source.total == nil { summary.hasRest = try source.next(within: .zero) != .end }
        } catch {
            summary.hasInputFailed = true
            output.trouble(RecordText.safe(error.description))
        }
        finish()
        return summary
    }

    /// Looks a topic up, once.
    ///
    /// - Returns: Nil when a stop was requested before a broker answered.
    private mutating func find(_ name: String) throws(CommandFailure) -> Target? {
        if let known = targets[name] { return known }
        let lane = lane
        let count = try configuration.connection.asked(until: stop) { try lane.partitionCount(of: name, within: $0) }
        guard let count else { return nil }
        do throws(KafkaError) {
            let target = Target(topic: try lane.topic(name), partitions: count)
            targets[name] = target
            return target
        } catch {
            throw CommandFailure("\(RecordText.safe(name)): \(error.reason)", status: ExitStatus.failed)
        }
    }

    private var mustEnd: Bool {
        stop.isRequested || (summary.failed > 0 && !configuration.keepsGoing)
    }

    /// One step; false at the end.
    private mutating func send(_ source: inout some MessageSource) throws(CommandFailure) -> Bool {
        serve(within: .zero)
        for _ in 0..<Self.turn {
            if let message = pending {
                guard enqueue(message) else {
                    serve(within: .milliseconds(20))
                    return true
                }
                pending = nil
            }
            guard lane.outstanding < configuration.maximumInFlight else {
                serve(within: .milliseconds(20))
                return true
            }
            switch try source.next(within: .milliseconds(lane.outstanding > 0 ? 5 : 100)) {
            case .nothingYet: return true
            case .end:
                hasEnded = true
                return false
            case .refused(let place, let error):
                guard refuse(place, error) else { return false }
            case .found(let place):
                guard waitForToken() else { return true }
                do throws(ModelError) {
                    let message = try source.make()
                    try lookUp(message.topic)
                    pending = message
                } catch {
                    guard refuse(place, error) else { return false }
                }
            }
        }
        return true
    }

    /// Serves reports meanwhile; false if sending must stop first.
    private mutating func waitForToken() -> Bool {
        while true {
            let start = now()
            guard let wait = bucket?.take(at: start) else { return true }
            let end = start + wait
            repeat {
                guard !mustEnd else { return false }
                serve(within: max(.zero, min(end - now(), .milliseconds(50))))
                tell()
            } while now() < end
        }
    }

    /// False when the error ends sending.
    private mutating func refuse(_ place: String, _ error: ModelError) -> Bool {
        summary.refused += 1
        output.trouble("\(RecordText.safe(place)): \(RecordText.safe("\(error)"))")
        return configuration.keepsGoing
    }

    /// The topic of a message that names one; a missing one is an error of this message only.
    private mutating func lookUp(_ topic: String?) throws(ModelError) {
        guard let topic else { return }
        do throws(CommandFailure) {
            _ = try find(topic)
        } catch {
            throw ModelError(.unavailable, field: "topic", error.description)
        }
    }

    /// False when the queue is full, or the stop came before the topic was known.
    private mutating func enqueue(_ message: OutgoingMessage) -> Bool {
        guard let target = targets[message.topic ?? configuration.topic ?? ""] else { return false }
        do throws(KafkaError) {
            try lane.enqueue(
                topic: target.topic,
                partition: KafkaPartitioner.partition(forKey: message.partitionKey, count: target.partitions),
                key: message.key,
                value: message.value,
                headers: message.headers,
                timestamp: message.timestamp,
                tag: nextTag
            )
            inFlight[nextTag] = message.label
            nextTag &+= 1
        } catch {
            if error.code == .queueFull { return false }
            fail(message.label, error)
        }
        summary.sent += 1
        return true
    }

    private mutating func finish() {
        // Each record fails after its timeout, so this ends.
        let deadline = now() + configuration.connection.timeout + .seconds(1)
        while lane.outstanding > 0, now() < deadline {
            serve(within: .milliseconds(50))
            tell()
        }
        lane.close(within: .milliseconds(500)) { settle($0) }
        summary.elapsed = now() - begin
        let untold = summary.failed - Self.toldFailures
        if untold > 0 { output.trouble("and \(SendSummary.grouped(untold)) more records failed") }
    }

    private mutating func tell() {
        summary.elapsed = now() - begin
        output.progress(summary)
    }

    private mutating func serve(within time: Duration) {
        lane.serveReports(within: time) { settle($0) }
    }

    private mutating func settle(_ report: KafkaDeliveryReport) {
        guard let label = inFlight.removeValue(forKey: report.tag) else { return }
        if let error = report.error {
            fail(label, error)
            return
        }
        summary.acknowledged += 1
        output.acknowledged(label, report.partition, report.offset)
    }

    private mutating func fail(_ label: MessageLabel, _ error: KafkaError) {
        summary.failed += 1
        if summary.failed <= Self.toldFailures { output.trouble("\(label): \(error.reason)") }
    }
}
