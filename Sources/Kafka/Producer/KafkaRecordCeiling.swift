public import Logging
import Synchronization

/// The maximum record size of a service: `message.max.bytes` as configured, and less after a broker refused a record of
/// that size. A topic may allow less (`max.message.bytes`), which only a refusal shows.
///
/// The producers of one service share it. A refusal halves it, once for all producers with the same limit; the next
/// producer that is created uses the smaller limit, for records and for batches. Only a restart of the process raises
/// it.
public final class KafkaRecordCeiling: Sendable {
    /// The lower bound: the service cannot work with less.
    public let least: Int
    private let current: Mutex<Int>
    private let logger: Logger

    /// Starts at the configured size.
    public init(_ bytes: Int, least: Int, logger: Logger) {
        self.least = least
        self.logger = logger
        current = Mutex(bytes)
    }

    /// Bytes as `message.max.bytes` counts them.
    public var bytes: Int { current.withLock { $0 } }

    /// Reports that a broker refused a batch of a producer with this limit.
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
            the broker refused records as too large: the service now writes smaller ones. Set the property message.max.bytes to what \
            the topics allow (max.message.bytes)
            """,
            metadata: ["bytes": "\(bound)", "now": "\(lowered)"]
        )
    }
}
