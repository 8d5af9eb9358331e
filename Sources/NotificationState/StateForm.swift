package import NotificationModel

/// The forms of the values in the topic `state`. Each value carries its form in the field `form`.
///
/// Readers pass over fields they do not know, so a field that an older reader may ignore needs no new form. What an older
/// reader would get wrong without it takes the next number. A value is written in the oldest form that can say it, so the
/// changelog stays readable for an older version until it holds what that version cannot understand.
enum StateForm {
    /// The form of what every version reads.
    static let first = 1
    /// The form from which a pending notification may wait without a due time.
    static let withoutDue = 2
    /// The form from which a pending notification may wait for a calendar trigger.
    static let calendar = 3
    /// The form from which a pending notification may wait for a device to cross the boundary of a region.
    static let location = 4
    /// The form from which a notification may name its channel.
    static let channel = 5
    /// The form from which a recipient may have devices, and a notification limits.
    static let devices = 6
    /// The form from which devices may show other things than what was delivered last, each with an operation of its own.
    static let screens = 7
    /// The form from which a component of a calendar trigger may have several values.
    static let calendarLists = 8
    /// The form from which a notification may be sent to each device by the channel of its platform.
    static let platforms = 9
    /// The form from which a device's token may be of another kind than the ordinary one.
    static let tokenKinds = 10
    /// The form from which a content may be what a Live Activity shows, and a token for such activities.
    static let liveActivities = 11
    /// The newest form that this version reads, and the newest that it writes.
    static let current = 11

    /// The oldest form that can have a content: an older version would show a Live Activity as a notification.
    static func of(_ content: ArraySlice<UInt8>) -> Int {
        LiveActivityFacts.mayBe(in: content) && ContentFacts(content).isLiveActivity ? liveActivities : first
    }

    /// Reads a form, and refuses one that a newer version wrote, before a field with another meaning in it is called wrong.
    ///
    /// - Parameter kind: what has the form, for the error's text.
    static func read(_ scanner: inout JSONScanner, of kind: String) throws(ModelError) -> Int64 {
        let form = try scanner.integer(in: 1...Int64.max)
        guard form <= Int64(current) else {
            throw ModelError(
                .unsupportedForm,
                field: "",
                "the \(kind) has form \(form), this version reads up to \(current): upgrade before you start"
            )
        }
        return form
    }
}

/// A part of a value in the topic `state`.
protocol StatePart {
    /// The oldest form that can say what the part holds now.
    var form: Int { get }
}

extension ChannelName: StatePart {
    var form: Int {
        switch self {
        case .events, .webhook, .test: StateForm.channel
        case .devices, .apns, .fcm, .webpush: StateForm.platforms
        }
    }
}

extension Optional: StatePart where Wrapped: StatePart {
    var form: Int { self?.form ?? StateForm.first }
}

extension Array: StatePart where Element: StatePart {
    var form: Int {
        var form = StateForm.first
        for part in self { form = Swift.max(form, part.form) }
        return form
    }
}
