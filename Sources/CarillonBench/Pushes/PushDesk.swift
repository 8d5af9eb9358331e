import Dispatch
import Foundation
import NotificationConsumer
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// A channel to devices, given sends as by a lane of the consumer service, on the thread of the benchmark.
final class PushDesk {
    /// Until an answer: on a busy machine it may be late.
    static let patience = Duration.seconds(60)

    private let channel: any DeliveryChannel & Sendable
    private let atOnce: Int
    private let isWoken = DispatchSemaphore(value: 0)
    private let repeats: Bool
    private var work: ChannelSends
    private(set) var begun = 0
    private(set) var ended = 0
    private(set) var accepted = 0
    /// Of the others, how many had each result.
    private var others: [ChannelResult: Int] = [:]

    /// - Parameters:
    ///   - channel: is closed by ``close()``.
    ///   - atOnce: pushes that are under way at one time.
    ///   - repeats: whether what was not accepted and may be is sent again under its id, as the lane does.
    init(_ channel: any DeliveryChannel & Sendable, atOnce: Int, repeats: Bool = false) {
        (self.channel, self.atOnce, self.repeats) = (channel, atOnce, repeats)
        work = ChannelSends([channel]) { [isWoken] _ in
            SideWork(
                concurrency: atOnce,
                bound: atOnce,
                mailbox: SideWorkMailbox(wake: { isWoken.signal() }, onLate: {})
            )
        }
    }

    /// Begins pushes while there is room for them.
    ///
    /// - Parameter next: nil for no more.
    func fill(_ next: (_ number: Int) throws -> Issued<ChannelSend>?) rethrows {
        let now = ContinuousClock.now
        while begun - ended < atOnce, let send = try next(begun) {
            work.add(send, within: Self.patience, at: now, SystemClock.now)
            begun += 1
        }
        work.flush()
    }

    /// Takes results until there is reason to end; asked after each few of them.
    func wait(until isOver: () throws -> Bool) throws {
        while try !isOver() {
            guard isWoken.wait(timeout: .now() + (Self.patience / .seconds(1))) == .success else {
                throw BenchmarkError("no answer within \(Self.patience); \(begun - ended) pushes are left")
            }
            for (send, result, _) in work.take(at: .now) {
                switch result {
                case .failed, .unanswered, .deferred:
                    if repeats {
                        work.add(send, within: Self.patience, at: .now, SystemClock.now)
                        continue
                    }
                    fallthrough
                case .rejected, .gone: others[result, default: 0] += 1
                case .accepted, .reduced, .removed: accepted += 1
                }
                ended += 1
            }
            work.beginWaiting(at: .now, SystemClock.now)
        }
    }

    /// - Throws: ``BenchmarkError`` when a push was not accepted.
    func requireAll() throws {
        try wait { begun == ended }
        guard accepted == ended else {
            let results = others.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", ")
            throw BenchmarkError("\(ended - accepted) of \(ended) pushes were not accepted: \(results)")
        }
    }

    func close() throws {
        let channel = channel
        try BackgroundWork { await channel.close() }.value()
    }
}
