import CRDKafka
import Synchronization

/// How often the clients of this process were told of trouble by librdkafka, most of which mends itself.
public enum KafkaClientErrors {
    private static let all = Mutex<[KafkaError.Code: Int]>([:])

    /// Counts so far, by librdkafka's name of the code: `_TRANSPORT`, `NOT_LEADER_FOR_PARTITION`. The names are a closed list.
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
