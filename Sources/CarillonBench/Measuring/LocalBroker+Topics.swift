import Dispatch
import LocalBroker
import NotificationModel

extension LocalBroker {
    /// Runs the body, which blocks, with a broker that has every topic.
    static func with<Result>(partitions: Int32, _ body: (LocalBroker, TopicNames) throws -> Result) throws -> Result {
        let topics = TopicNames()
        let broker = try LocalBroker(
            topics: Dictionary(topics.all.map { ($0.topic, Int(partitions)) }) { first, _ in first }
        )
        defer {
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                await broker.shutDown()
                done.signal()
            }
            done.wait()
        }
        return try body(broker, topics)
    }
}
