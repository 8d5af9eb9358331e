import CRDKafka
import Synchronization

/// Counts the errors that librdkafka reported to the clients of this process. librdkafka recovers from most of them
/// itself.
public enum KafkaClientErrors {
    private static let all = Mutex<[KafkaError.Code: Int]>([:])

    /// Counts so far, keyed by librdkafka's name of the code: `_TRANSPORT`, `NOT_LEADER_FOR_PARTITION`. The names are a
    /// closed list.
    public static var counts: [String: Int] {
        let pairs = all.withLock { $0 }.map { code, count in
            (String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: code.rawValue))), count)
        }
        return Dictionary(pairs, uniquingKeysWith: +)
    }

    static func count(_ code: KafkaError.Code) {
        all.withLock { $0[code, default: 0] += 1 }
    }
}
