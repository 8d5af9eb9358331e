package import NotificationModel

/// One attempt at one operation on devices.
package struct ChannelSend: Hashable, Sendable {
    /// The action on the devices.
    package enum Kind: Hashable, Sendable {
        /// Shows the content, replacing what is shown under the key.
        case deliver(content: ArraySlice<UInt8>)
        /// Removes what is shown under the key.
        case remove
    }

    /// The id of the operation, equal for each of its attempts: derived, not random. What is sent under one id never changes, so
    /// a receiver may ignore one that it knows.
    package var id: UUIDValue
    package var key: NotificationKey
    package var kind: Kind
    /// The channel that performs it.
    package var channel: ChannelName
    /// The request whose notification is shown or removed.
    package var requestID: RequestID
    /// The nominal instant of its trigger.
    package var occurrence: Timestamp?
    /// From 1.
    package var attempt: Int
    /// Where the operation stands among those of the key: a receiver may ignore what is older than what it has done on a device.
    package var sequence: OperationSequence
    /// The trace of what caused the operation.
    package var trace: CarriedTrace
    /// The span of this attempt, of that trace; nil when it is not traced.
    package var span: SpanContext?
    /// Whether the request closes with this send; false for one occurrence of a repeat, and for what was delivered before.
    package var closes: Bool
    /// An earlier attempt, perhaps of a previous owner of the partition, may have reached a device.
    package var isInDoubt: Bool
    /// After this instant the attempt must not begin.
    package var expiration: Timestamp?
    /// It delivers again what was shown before, without banner and sound.
    package var isQuiet: Bool
    /// Of a removal: the removal, response or request that caused it.
    package var cause: RequestID?
    /// The devices that it is for, a JSON array as in events; nil when none is known.
    package var devices: ArraySlice<UInt8>?
    /// The registration of its device; nil for a channel that does not send to each device by itself.
    package var registration: DeviceRegistration?
    /// The actions of the notification's category, a JSON array; nil without a category.
    package var actions: ArraySlice<UInt8>?
    /// What it adds for a Live Activity; nil for a notification.
    package var activity: Activity?

    /// Of a send that starts, updates or ends a Live Activity, as the kind of its ``registration`` says.
    package struct Activity: Hashable, Sendable {
        /// Seconds since 1970: a device ignores what is older than what it has.
        package var timestamp: Int64
        /// When the activity disappears after its end; nil for at once.
        package var dismissalDate: Timestamp?

        package init(timestamp: Int64, dismissalDate: Timestamp? = nil) {
            (self.timestamp, self.dismissalDate) = (timestamp, dismissalDate)
        }
    }

    package init(
        id: UUIDValue,
        key: NotificationKey,
        kind: Kind,
        channel: ChannelName,
        requestID: RequestID,
        occurrence: Timestamp? = nil,
        attempt: Int = 1,
        sequence: OperationSequence = .init(life: 0, offset: -1, time: .earliest),
        trace: CarriedTrace = .none,
        closes: Bool = true,
        isInDoubt: Bool = false,
        isQuiet: Bool = false,
        expiration: Timestamp? = nil,
        cause: RequestID? = nil,
        devices: ArraySlice<UInt8>? = nil,
        actions: ArraySlice<UInt8>? = nil
    ) {
        (self.id, self.key, self.kind, self.channel) = (id, key, kind, channel)
        (self.requestID, self.occurrence, self.attempt, self.sequence) = (requestID, occurrence, attempt, sequence)
        (self.trace, self.closes, self.isInDoubt, self.expiration) = (trace, closes, isInDoubt, expiration)
        (self.isQuiet, self.cause, self.devices, self.actions) = (isQuiet, cause, devices, actions)
    }

    /// Which of the sends that wait for the channel goes first: by interruption level.
    package var priority: WorkPriority {
        guard case .deliver(let content) = kind else { return .normal }
        return priority(of: InterruptionLevel(ofContent: content))
    }

    /// The same for a caller that has read the content.
    ///
    /// - Parameter level: of the content; not evaluated for what waits like most others.
    package func priority(of level: @autoclosure () -> InterruptionLevel?) -> WorkPriority {
        guard case .deliver = kind, !isQuiet else { return .normal }
        let level = level()
        return level?.isUrgent == true ? .high : level == .passive ? .low : .normal
    }
}

extension InterruptionLevel {
    /// Whether it is time-critical, so that it does not wait for others.
    package var isUrgent: Bool { self == .timeSensitive || self == .critical }
}

/// The priority of waiting work.
package enum WorkPriority: Int, CaseIterable, Sendable {
    case high, normal, low
}

/// Where an operation stands among all of its key: first by the record of `requests` that was applied last, then by time.
package struct OperationSequence: Sendable, Hashable, Comparable {
    /// The life of the topic `requests`: how often it was replaced by a new one.
    package var life: Int64
    /// The offset of the record; -1 before the first.
    package var offset: Int64
    /// The time of the cause: of its record, when it was due, or of an answer.
    package var time: Timestamp

    package init(life: Int64, offset: Int64, time: Timestamp) {
        (self.life, self.offset, self.time) = (life, offset, time)
    }

    package static func < (one: OperationSequence, other: OperationSequence) -> Bool {
        (one.life, one.offset, one.time) < (other.life, other.offset, other.time)
    }

    /// The extension attribute `sequence` of CloudEvents: texts in the order of sequences, `0-000000000012-1764061200000`.
    package var text: String {
        var text: [UInt8] = []
        write(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private func write(to out: inout [UInt8]) {
        Self.append(life, digits: 1, to: &out)
        out.append(UInt8(ascii: "-"))
        Self.append(offset + 1, digits: 12, to: &out)
        out.append(UInt8(ascii: "-"))
        Self.append(time.rawValue, digits: 13, to: &out)
    }

    private static func append(_ number: Int64, digits: Int, to out: inout [UInt8]) {
        var (number, most) = (max(0, number), Int64(1))
        for _ in 1..<digits { most *= 10 }
        while number < most, most > 1 {
            out.append(UInt8(ascii: "0"))
            most /= 10
        }
        JSONWriter.append(number: number, to: &out)
    }
}

extension OperationSequence: JSONWritable {
    // Bytes, because each send has it.
    package func writeJSON(to out: inout [UInt8]) {
        out.append(0x22)
        write(to: &out)
        out.append(0x22)
    }
}

/// The result of one attempt.
package enum ChannelResult: Hashable, Sendable {
    case accepted
    /// Accepted, with less of these parts than was asked for, because all of it was too large.
    case reduced([ReducedPart])
    /// A removal was accepted: what it does to what the device shows.
    case removed(RemovalOutcome)
    /// Rejected permanently.
    case rejected(ReasonCode)
    /// Rejected permanently, because the device's token is gone: a registration at that instant or later is newer.
    case gone(Timestamp)
    /// Failed temporarily, and has not reached a device; the channel may request a pause, in milliseconds.
    case failed(retryAfter: Int64?)
    /// Nothing is known: it may have reached a device.
    case unanswered(retryAfter: Int64?)
    /// Not tried, so that it does not count as an attempt.
    case deferred(retryAfter: Int64?)

    /// Whether no further attempt follows.
    package var isFinal: Bool {
        switch self {
        case .accepted, .reduced, .removed, .rejected, .gone: true
        case .failed, .unanswered, .deferred: false
        }
    }

    /// Whether a notification was accepted.
    package var isAcceptance: Bool {
        switch self {
        case .accepted, .reduced: true
        case .removed, .rejected, .gone, .failed, .unanswered, .deferred: false
        }
    }
}

extension UUIDValue {
    /// A number that only the id, the purpose and the seed decide, so that a replay or another owner draws the same.
    package func draw(_ purpose: String, seed: UInt64 = 0) -> UInt64 {
        // FNV-1a; mixed at the end, because it hardly spreads what differs in the last bytes only.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in "\(self)\n\(purpose)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return SplitMix64.mixed(hash)
    }
}
