package import NotificationDelivery
package import NotificationModel

/// What a channel is asked to do on some targets of a key, with its attempts.
package struct ScreenOperation: Sendable, Hashable {
    /// What the targets show afterwards.
    package enum Goal: Sendable, Hashable {
        /// A notification.
        case show(Showing)
        /// Nothing.
        case remove
    }

    /// The progress of the attempts.
    package enum Phase: Sendable, Hashable {
        /// The channel has had it since that instant.
        case inFlight(since: Timestamp)
        /// The next attempt is at that instant.
        case waiting(until: Timestamp)
    }

    /// What the targets show afterwards.
    package var goal: Goal
    /// Whether it delivers again what was shown before: without banner and sound.
    package var isQuiet: Bool
    /// The channel of its targets.
    package var channel: ChannelName
    /// The names of its devices; empty for all that the gateway knows.
    package var devices: [String]
    /// What a removal takes away: one of these.
    package var removes: [Showing]
    /// The number of the attempt in flight, or of the next one; from 1.
    package var attempt = 1
    /// The progress of the attempts.
    package var phase: Phase
    /// When the first attempt began; nil until it has ended.
    package var begun: Timestamp?
    /// Where it stands among the operations of the key.
    package var sequence: OperationSequence
    /// The trace of its cause.
    package var trace: CarriedTrace
    /// The removal, response or request that caused a removal; nil when it is the end of the notification itself.
    package var cause: RequestID?
    /// Its id, which a repeat has, too; nil before the first attempt.
    package var id: UUIDValue?
    /// The list of its devices in the last attempt, a JSON array; nil without devices, or before the first attempt.
    package var list: ArraySlice<UInt8>?
    /// Of a Live Activity: the timestamp of its pushes, in seconds since 1970; nil before the first attempt.
    package var timestamp: Int64?
    /// Whether it waits for the token of the Live Activity that its device shows, until its next attempt at most.
    package var awaitsToken = false

    /// An operation that has not begun.
    package init(
        _ goal: Goal,
        isQuiet: Bool = false,
        channel: ChannelName,
        devices: [String],
        removes: [Showing] = [],
        at now: Timestamp,
        sequence: OperationSequence,
        trace: CarriedTrace,
        cause: RequestID? = nil
    ) {
        (self.goal, self.isQuiet, self.channel, self.devices) = (goal, isQuiet, channel, devices)
        (self.removes, self.phase, self.sequence) = (removes, .waiting(until: now), sequence)
        (self.trace, self.cause) = (trace, cause)
    }

    /// What it shows; nil for a removal.
    package var showing: Showing? {
        if case .show(let showing) = goal { showing } else { nil }
    }

    /// Whether an attempt has no answer yet.
    package var isInFlight: Bool {
        if case .inFlight = phase { true } else { false }
    }

    /// When its next attempt is; nil while one is in flight.
    package var nextAttempt: Timestamp? {
        if case .waiting(let until) = phase { until } else { nil }
    }

    /// Whether it concerns a target.
    package func concerns(_ target: ScreenTarget) -> Bool {
        guard channel == target.channel else { return false }
        guard let device = target.device else { return devices.isEmpty }
        return devices.containsUTF8(of: device)
    }

    /// Begins an attempt.
    ///
    /// - Parameters:
    ///   - id: under which it is sent.
    ///   - list: of its devices, a JSON array; nil without devices.
    package mutating func begin(at now: Timestamp, id: UUIDValue, list: ArraySlice<UInt8>?) {
        (phase, self.id, self.list, awaitsToken) = (.inFlight(since: now), id, list, false)
    }

    /// Ends an attempt; the next one begins at that instant.
    ///
    /// - Parameter isTried: false when the channel has not tried it, so that the next one has its number.
    package mutating func wait(until next: Timestamp, isTried: Bool) {
        if case .inFlight(let since) = phase, begun == nil { begun = since }
        if isTried { attempt += 1 }
        phase = .waiting(until: next)
    }
}

extension [String] {
    /// Compares bytes: names that look the same are different devices.
    package func containsUTF8(of name: String) -> Bool { contains { $0.hasSameUTF8(as: name) } }

    /// Compares bytes.
    package mutating func removeUTF8(of name: String) { removeAll { $0.hasSameUTF8(as: name) } }
}
