/// The calls of a transaction, each one attempt; `KafkaTransactionPolicy` says which may be repeated. One thread uses it.
package protocol KafkaTransactionCalls: AnyObject {
    /// For each input the next offset to read.
    associatedtype Offsets

    /// The monotonic clock by which waits and deadlines are counted.
    var now: ContinuousClock.Instant { get }
    /// Lets time pass; the members of the group stay alive meanwhile.
    func wait(_ time: Duration)

    func initTransactions(within time: Duration) throws(KafkaError)
    func beginTransaction() throws(KafkaError)
    func sendOffsets(_ offsets: Offsets, within time: Duration) throws(KafkaError)
    func commitTransaction(within time: Duration) throws(KafkaError)
    func abortTransaction(within time: Duration) throws(KafkaError)
}
