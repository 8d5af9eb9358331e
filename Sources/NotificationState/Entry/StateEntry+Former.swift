package import NotificationModel

extension StateEntry {
    /// What an entry of an older version says of attempts and doubt, until the center has made a ``Screen`` of it: only the center
    /// knows the channel of notifications that name none.
    package final class Former: Sendable, Hashable {
        /// An attempt at the notification that is being sent.
        package struct Attempt: Sendable, Hashable {
            /// Its number.
            package var number: Int
            /// Whether the channel has tried it.
            package var isTried: Bool
            /// In flight, or between two attempts.
            package var phase: ScreenOperation.Phase
            /// When the first attempt began.
            package var begun: Timestamp?
        }

        /// Devices that were asked to remove what they show, or are to be.
        package struct Removal: Sendable, Hashable {
            /// The channel of what they show, as its request named it.
            package var channel: ChannelName?
            /// Their names; empty for all that the gateway knows.
            package var devices: [String]
            /// The id of the cause, in place of what they show, which is not known.
            package var cause: Showing
            /// The trace of the cause.
            package var trace: CarriedTrace
        }

        /// The attempt at the notification that is being sent; nil when none has begun.
        package let attempt: Attempt?
        /// Whether an earlier attempt had no answer.
        package let isHandoverInDoubt: Bool
        /// Whether what is pending may have been sent.
        package let isPendingInDoubt: Bool
        /// What is asked to be removed.
        package let removals: [Removal]

        init(
            attempt: Attempt? = nil,
            isHandoverInDoubt: Bool = false,
            isPendingInDoubt: Bool = false,
            removals: [Removal] = []
        ) {
            (self.attempt, self.isHandoverInDoubt) = (attempt, isHandoverInDoubt)
            (self.isPendingInDoubt, self.removals) = (isPendingInDoubt, removals)
        }

        /// Compares the values.
        package static func == (one: Former, other: Former) -> Bool {
            one.attempt == other.attempt && one.removals == other.removals
                && one.isHandoverInDoubt == other.isHandoverInDoubt && one.isPendingInDoubt == other.isPendingInDoubt
        }

        /// Hashes the values.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(attempt)
            hasher.combine(removals)
        }

        func adding(_ other: Former) -> Former {
            Former(
                attempt: attempt ?? other.attempt,
                isHandoverInDoubt: isHandoverInDoubt || other.isHandoverInDoubt,
                isPendingInDoubt: isPendingInDoubt || other.isPendingInDoubt,
                removals: removals + other.removals
            )
        }
    }
}

extension StateEntry.Former.Removal {
    private enum Field: FieldName {
        case channel, devices, id
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (channel, devices, id): (ChannelName?, [String], RequestID?) = (nil, [], nil)
        var trace = CarriedTrace.Scan()
        try trace.object(of: Field.self, in: &scanner) { scanner, field throws(ModelError) in
            switch field {
            case .channel: channel = try scanner.choice(ChannelName.self)
            case .devices: devices = try scanner.texts()
            case .id: id = try scanner.requestID()
            }
        }
        self.init(
            channel: channel,
            devices: devices,
            cause: Showing(try scanner.required(id, Field.id), nil, isFormer: true),
            trace: trace.trace
        )
    }
}
