package import NotificationModel
package import NotificationState

/// Converts the records of each input topic to inputs of the center.
package struct Intake: Sendable {
    let requests: RequestIntake
    let signals: SignalIntake
    let devices: DeviceIntake

    /// A record as received; of its headers only the trace is kept, and what a signal needs.
    package struct Record: Sendable {
        package var input: InputTopic
        package var partition: Int32
        package var offset: Int64
        /// Milliseconds since 1970; nil when the broker provided none.
        package var timestamp: Int64?
        package var key: [UInt8]?
        package var value: [UInt8]?
        package var trace: CarriedTrace
        package var signal: SignalHeaders

        package init(
            _ input: InputTopic,
            partition: Int32,
            offset: Int64,
            timestamp: Int64?,
            key: [UInt8]?,
            value: [UInt8]?,
            trace: CarriedTrace,
            signal: SignalHeaders = .init()
        ) {
            self.input = input
            self.partition = partition
            self.offset = offset
            self.timestamp = timestamp
            self.key = key
            self.value = value
            self.trace = trace
            self.signal = signal
        }
    }

    /// - Parameters:
    ///   - life: the life of the topic to which the record's offset belongs.
    ///   - isReadAgain: the record's timestamp and size were checked at its first reading.
    /// - Throws: `ModelError` with the reason for the dead letter.
    func input(
        from record: Record,
        life: Int64,
        at now: Timestamp,
        isReadAgain: Bool = false
    ) throws(ModelError) -> CenterInput {
        switch record.input {
        case .requests: try requests.input(from: record, life: life, at: now, isReadAgain: isReadAgain)
        case .signals: try signals.input(from: record, life: life, at: now)
        case .devices: .registration(try devices.registration(from: record, life: life, at: now))
        case .tokens: .claim(try devices.claim(from: record, life: life))
        }
    }
}
