package import NotificationModel

/// Turns the records of each input topic into inputs of the centre.
package struct Intake: Sendable {
    let requests: RequestIntake

    /// A record as it came, without its headers but for the trace.
    package struct Record: Sendable {
        package var input: InputTopic
        package var partition: Int32
        package var offset: Int64
        /// Milliseconds since 1970; nil when the broker gave none.
        package var timestamp: Int64?
        package var key: [UInt8]?
        package var value: [UInt8]?
        package var trace: CarriedTrace

        package init(
            _ input: InputTopic,
            partition: Int32,
            offset: Int64,
            timestamp: Int64?,
            key: [UInt8]?,
            value: [UInt8]?,
            trace: CarriedTrace
        ) {
            self.input = input
            self.partition = partition
            self.offset = offset
            self.timestamp = timestamp
            self.key = key
            self.value = value
            self.trace = trace
        }
    }

    /// - Parameters:
    ///   - life: of the topic, which the record's offset is of.
    ///   - isReadAgain: its timestamp and its size were judged when it was read first.
    /// - Throws: `ModelError` with the reason under which the record becomes a dead letter.
    func input(
        from record: Record,
        life: Int64,
        at now: Timestamp,
        isReadAgain: Bool = false
    ) throws(ModelError) -> CenterInput {
        switch record.input {
        case .requests: try requests.input(from: record, life: life, at: now, isReadAgain: isReadAgain)
        }
    }
}
