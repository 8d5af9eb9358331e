import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState

/// The Live Activities on the phones: a push to a token that starts them makes one, and a push to the token of one updates or ends it. A
/// push to a broadcast channel is for those that follow it.
final class SimulatedActivities {
    /// Why an activity is over.
    enum End {
        case push
        /// A person has closed it, or the app has ended it.
        case person
        /// The app is gone from the phone.
        case phone
    }

    struct Activity {
        let key: NotificationKey
        /// The name of the registration that starts activities on its phone.
        let phone: String
        /// The last one is the newest; the others reach it, too.
        var tokens: [String]
        var showing: Showing
        /// Seconds, of the newest push.
        var timestamp: Int64
        /// nil while it runs.
        var end: End?
        /// Its app has registered a token of it.
        var isRegistered = false
        /// What committed events say that it shows, if nothing was sent since that could end it; what came later is not confirmed.
        var confirmed: Showing?
        /// The token that started it was taken back: nothing is known of it from then on.
        var isLeft = false
        /// Microseconds.
        let begun: Int64
    }

    /// What a broadcast channel has told the activities that follow it.
    struct Channel {
        var showing: Showing?
        /// Seconds, of the newest push.
        var timestamp: Int64
        /// It was taken back, or while a push was on its way: nothing is known of it until the next one.
        var isLeft = false
    }

    private(set) var all: [Activity] = []
    /// By the key of their registrations.
    private var channels: [NotificationKey: Channel] = [:]
    private var numbers: [String: Int] = [:]
    /// The tokens that start activities, and the channels, that are gone.
    var gone: Set<String> = []
    /// By the key of its registration: when the token that starts activities was last taken back, in microseconds.
    private var takenBack: [NotificationKey: Int64] = [:]
    /// Called with the number of each activity that a push has started or ended.
    var onStart: (Int) -> Void = { _ in }
    var onEnd: (Int) -> Void = { _ in }

    /// The number of the activity that has a token.
    func number(of token: String) -> Int? { numbers[token] }

    /// The numbers of the activities that a phone shows under a key; the newest is the last.
    func running(_ key: NotificationKey, on phone: String) -> [Int] {
        all.indices.filter { all[$0].end == nil && all[$0].key == key && all[$0].phone == phone }
    }

    /// What a phone shows under a key: its newest activity. For a channel, what those that follow it show.
    func showing(_ key: NotificationKey, on phone: String) -> Showing? {
        channel(key, phone)?.showing ?? running(key, on: phone).last.map { all[$0].showing }
    }

    private func channel(_ key: NotificationKey, _ name: String) -> Channel? {
        (try? key.withIdentifier(name)).flatMap { channels[$0] }
    }

    /// Whether the token is of an activity that is over.
    func isOver(_ token: String) -> Bool { numbers[token].map { all[$0].end != nil } ?? true }

    /// A new token of an activity.
    func addToken(to number: Int) -> String {
        let token = Self.token("activity \(number) \(all[number].tokens.count)")
        all[number].tokens.append(token)
        numbers[token] = number
        return token
    }

    /// A token as APNs gives them.
    static func token(_ name: String) -> String {
        let hexadecimal = name.utf8.map { String($0, radix: 16) }.joined()
        return String((hexadecimal + String(repeating: "0", count: 96)).prefix(96))
    }

    /// The name under which an app registers the tokens of an activity.
    func name(of number: Int) -> String { "\(all[number].phone)-\(number)" }

    func noteRegistered(_ number: Int) { all[number].isRegistered = true }

    /// The token of an activity had to make room: nobody reaches it.
    ///
    /// - Parameter token: the key of its registration.
    func drop(_ token: NotificationKey) {
        for number in all.indices where all[number].key.isSameRecipient(as: token) {
            if name(of: number) == token.identifier { all[number].isRegistered = false }
        }
    }

    func end(_ number: Int, _ end: End) {
        if all[number].end == nil { all[number].end = end }
    }

    /// An app has taken back the token that starts activities.
    ///
    /// - Parameter phone: the key of its registration.
    func leave(_ phone: NotificationKey, at now: Int64) {
        takenBack[phone] = now
        channels[phone]?.isLeft = true
        for number in started(by: phone) { (all[number].isLeft, all[number].confirmed) = (true, nil) }
    }

    /// The app is gone from a phone.
    ///
    /// - Parameter phone: the key of its registration.
    func clear(_ phone: NotificationKey) {
        channels[phone] = nil
        for number in started(by: phone) { end(number, .phone) }
    }

    private func started(by phone: NotificationKey) -> [Int] {
        all.indices.filter { all[$0].phone == phone.identifier && all[$0].key.isSameRecipient(as: phone) }
    }

    /// - Parameter sent: when the attempt began, in microseconds.
    func arrive(
        _ send: Issued<ChannelSend>,
        _ registration: DeviceRegistration,
        on phone: String,
        sent: Int64,
        at now: Int64
    ) {
        guard let timestamp = send.activity?.timestamp else { return }
        let showing = Showing(send.requestID, send.occurrence)
        let device = try? send.key.withIdentifier(phone)
        // Its app may have taken the token back while the push was on its way.
        let isLeft = device.flatMap { takenBack[$0] }.map { sent <= $0 } ?? false
        if registration.kind == .broadcastChannel {
            guard let device, channels[device].map({ $0.showing == nil || timestamp >= $0.timestamp }) ?? true else {
                return
            }
            let shown = send.kind == .remove ? nil : showing
            return channels[device] = Channel(showing: shown, timestamp: timestamp, isLeft: isLeft)
        }
        if registration.kind == .liveActivityStart {
            guard send.kind != .remove else { return }
            var activity = Activity(
                key: send.key,
                phone: phone,
                tokens: [],
                showing: showing,
                timestamp: timestamp,
                begun: now
            )
            activity.isLeft = isLeft
            all.append(activity)
            _ = addToken(to: all.count - 1)
            return onStart(all.count - 1)
        }
        guard let number = numbers[registration.token], all[number].end == nil, timestamp >= all[number].timestamp
        else { return }
        all[number].timestamp = timestamp
        guard send.kind == .remove else { return all[number].showing = showing }
        end(number, .push)
        onEnd(number)
    }

    // MARK: - What events say

    /// A committed event says that a phone shows something.
    func confirm(_ showing: Showing, _ key: NotificationKey, on phone: String) {
        for number in running(key, on: phone) where all[number].showing == showing && !all[number].isLeft {
            all[number].confirmed = showing
        }
    }

    /// Something begins that may end an activity.
    func doubt(_ number: Int) { all[number].confirmed = nil }

    /// What was shown under a key is to be ended.
    func doubt(_ key: NotificationKey) {
        for number in all.indices where all[number].key == key { doubt(number) }
    }

    /// Whether a phone may show nothing although the events say otherwise: a person has closed the activity, which its app tells
    /// later or not at all.
    func mayBeMissing(_ key: NotificationKey, on phone: String) -> Bool {
        all.last { $0.key == key && $0.phone == phone }?.end == .person || channel(key, phone)?.isLeft ?? false
    }

    /// Whether a phone may show what was to be ended: no app has registered a token of it.
    func mayStay(_ key: NotificationKey, on phone: String) -> Bool {
        running(key, on: phone).last.map { !all[$0].isRegistered } ?? channel(key, phone)?.isLeft ?? false
    }
}
