extension StateEntry.Sending {
    /// The devices that an attempt is for, and what of its category goes with it. A class, so that entries stay small; equal
    /// by value.
    public final class Addressees: Sendable, Hashable {
        /// The devices and their outcomes, a JSON array for the event; nil when none of the recipient's devices is known.
        public let devices: ArraySlice<UInt8>?
        /// How many devices it is given to; 0 when none is known.
        public let targets: Int
        /// Its category; nil without one, or when it is not known.
        public let category: NotificationCategory?
        /// The identifier of its thread as in its content, without quotes; nil without one.
        public let thread: ArraySlice<UInt8>?

        /// Addressees of an attempt.
        public init(
            devices: ArraySlice<UInt8>?,
            targets: Int,
            category: NotificationCategory? = nil,
            thread: ArraySlice<UInt8>? = nil
        ) {
            (self.devices, self.targets, self.category, self.thread) = (devices, targets, category, thread)
        }

        /// The devices of a recall, at least one.
        public convenience init(recalling devices: [String]) {
            var json: [UInt8] = []
            for device in devices {
                JSONWriter.append(json.isEmpty ? "[{\"device\":" : ",{\"device\":", to: &json)
                JSONWriter.append(string: device, to: &json)
                JSONWriter.append("}", to: &json)
            }
            JSONWriter.append("]", to: &json)
            self.init(devices: json[...], targets: devices.count)
        }

        /// Compares the values.
        public static func == (one: Addressees, other: Addressees) -> Bool {
            one.targets == other.targets && one.devices == other.devices && one.category == other.category
                && one.thread == other.thread
        }

        /// Hashes the values.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(targets)
            hasher.combine(devices)
        }
    }
}
