package import NotificationModel

/// The devices that a notification is for, and what of its category and thread goes with it. A class, so that entries stay small.
package final class Addressees: Sendable, Hashable {
    /// When they were chosen.
    package let at: Timestamp
    /// The devices; nil when none of the recipient's is known.
    package let list: DeviceJSON?
    /// Its category; nil without one, or when it is not known.
    package let category: NotificationCategory?
    /// The identifier of its thread as in its content, without quotes; nil without one.
    package let thread: ArraySlice<UInt8>?

    /// Addressees of a notification.
    package init(at: Timestamp, list: DeviceJSON?, category: NotificationCategory?, thread: ArraySlice<UInt8>?) {
        (self.at, self.list, self.category, self.thread) = (at, list, category, thread)
    }

    /// They are never compared by value.
    package static func == (one: Addressees, other: Addressees) -> Bool { one === other }

    /// Hashes the identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The list of a notification's devices for events and operations: a JSON array, written once, and where in it each device that
/// is given the notification is.
package struct DeviceJSON: Sendable {
    /// What became of the notification on a device.
    package enum Outcome: Sendable {
        case accepted
        /// It got less of these parts.
        case reduced([ReducedPart])
        case rejected(ReasonCode)
        case retrying
    }

    /// A device that is given the notification.
    package struct Target: Sendable {
        /// Its name.
        package var device: String
        /// Where its object begins.
        package var start: Int
        /// Where its outcome begins, which is written as ``DeviceJSON/accepted``.
        package var outcome: Int
        /// Where its object ends.
        package var end: Int

        /// A device whose object is being written.
        package init(device: String, start: Int, outcome: Int) {
            (self.device, self.start, self.outcome, self.end) = (device, start, outcome, outcome)
        }
    }

    /// The member that says that a device has accepted it.
    package static let accepted: StaticString = ",\"outcome\":\"accepted\""

    /// The whole array, with devices that are not given it, and all others as if they had accepted it.
    package var json: ArraySlice<UInt8> { bytes[...] }
    /// The bytes of the array.
    package var bytes: [UInt8] = []
    /// The devices that are given the notification.
    package var targets: [Target] = []

    /// An empty list.
    package init() {}

    /// The array of some of the devices.
    package func json(of names: [String]) -> ArraySlice<UInt8> {
        var out: [UInt8] = []
        for target in targets where names.containsUTF8(of: target.device) {
            out.append(out.isEmpty ? 0x5B : 0x2C)
            out.append(contentsOf: bytes[target.start..<target.end])
        }
        out.append(0x5D)
        return out[...]
    }

    /// The whole array with the outcome of each device.
    package func json(_ outcome: (String) -> Outcome) -> ArraySlice<UInt8> {
        var out: [UInt8] = []
        var position = 0
        for target in targets {
            let member: String
            switch outcome(target.device) {
            case .accepted: continue
            case .reduced(let parts):
                let names = parts.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
                member = ",\"outcome\":\"accepted\",\"reduced\":[\(names)]"
            case .rejected(let reason): member = ",\"outcome\":\"rejected\",\"reason\":\"\(reason.rawValue)\""
            case .retrying: member = ",\"outcome\":\"retrying\""
            }
            out.append(contentsOf: bytes[position..<target.outcome])
            out.append(contentsOf: member.utf8)
            position = target.outcome + Self.accepted.utf8CodeUnitCount
        }
        out.append(contentsOf: bytes[position...])
        return out[...]
    }
}
