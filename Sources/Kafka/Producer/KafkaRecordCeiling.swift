public import Logging
import Synchronization

/// How large the records of a service may be: `message.max.bytes` as configured, and less once a broker refused what had that
/// size: a topic may allow less (`max.message.bytes`), of which only a refusal tells.
///
/// The producers of one service share it. A refusal halves it, once for all of them that had the same bound, and whoever
/// makes the next producer takes the smaller bound, for records and for batches. It grows again only with the process.
public final class KafkaRecordCeiling: Sendable {
    /// It does not fall below: with less the service could not work at all.
    public let least: Int
    private let current: Mutex<Int>
    private let logger: Logger

    /// A ceiling at what is configured.
    public init(_ bytes: Int, least: Int, logger: Logger) {
        self.least = least
        self.logger = logger
        current = Mutex(bytes)
    }

    /// Bytes as `message.max.bytes` counts them.
    public var bytes: Int { current.withLock { $0 } }

    /// A broker did not take a batch of a producer that had this bound.
    public func refused(at bound: Int) {
        let lowered = current.withLock { bytes -> Int? in
            let half = max(least, bound / 2)
            guard half < bytes else { return nil }
            bytes = half
            return half
        }
        guard let lowered else { return }
        logger.error(
            """
            the broker refused records as too large: from now on they are made smaller. Set the property message.max.bytes to what \
            the topics allow (max.message.bytes)
            """,
            metadata: ["bytes": "\(bound)", "now": "\(lowered)"]
        )
    }
}
