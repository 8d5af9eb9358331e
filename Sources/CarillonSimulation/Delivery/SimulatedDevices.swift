import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState

/// The devices: the last notification of each key that reached its device, and a list of all sends.
final class SimulatedDevices {
    /// A send, and its progress.
    struct Record {
        var send: Issued<ChannelSend>
        /// The process and lane that requested it.
        var sender: String
        /// The sender's wall clock at the start, and the latest time that it had shown.
        var wall: Timestamp
        var latest: Timestamp
        /// Microseconds of true time.
        var begun: Int64
        /// When it reached the device; nil if it has not.
        var arrived: Int64?
        /// When the sender got the outcome; nil if it has not.
        var told: Int64?
        /// The sender waits no longer: it got the outcome, or it ended.
        var isOver = false
    }

    private(set) var records: [Record] = []
    let activities = SimulatedActivities()
    /// Called with the number of each send that begins.
    var onBegin: (Int) -> Void = { _ in }
    /// The number of sends whose outcome a sender waits for.
    private(set) var openCount = 0
    /// When a sender last got an outcome for a key, in microseconds: a due notification waits for the send in progress.
    private(set) var toldAt: [NotificationKey: Int64] = [:]
    /// The send that each device shows under a key; devices that are not known have one name together.
    private(set) var shown: [NotificationKey: [String: Showing]] = [:]
    /// What was answered on a device that did not show it, or with an action that may be refused, and what the device showed instead:
    /// whether the device shows it since is open, for an answer says what a device showed.
    private var openAnswers: [NotificationKey: [String: Set<RequestID>]] = [:]
    /// The number of sends when an app was last gone from a device: an earlier one does not reach it.
    private var goneBefore: [NotificationKey: Int] = [:]
    /// What stands for the devices that the gateway knows.
    static let unnamed = "*"
    /// When the last send of each key arrives, in microseconds.
    private var arrivals: [NotificationKey: Int64] = [:]

    func begin(_ send: Issued<ChannelSend>, by sender: String, _ clock: MachineClock, at now: Int64) -> Int {
        records.append(Record(send: send, sender: sender, wall: clock.wall, latest: clock.latest, begun: now))
        openCount += 1
        onBegin(records.count - 1)
        return records.count - 1
    }

    /// When a send arrives, in microseconds: sends of one key arrive in order, also if different owners requested them, as
    /// with a push service that keeps the order of what it accepted.
    func arrival(of key: NotificationKey, _ drawn: Int64) -> Int64 {
        let arrival = max(drawn, (arrivals[key] ?? 0) + 1)
        arrivals[key] = arrival
        return arrival
    }

    func arrive(_ number: Int, at now: Int64) {
        records[number].arrived = now
        let send = records[number].send
        let names = send.devices.map(Self.names)
        if let registration = send.registration, registration.kind.isOfLiveActivities {
            guard let phone = names?.first, !isGone(phone, of: send.key, before: number) else { return }
            activities.arrive(send, registration, on: phone, sent: records[number].begun, at: now)
            return showActivity(of: send.key, on: phone)
        }
        switch send.kind {
        case .deliver:
            for name in names ?? [Self.unnamed] where !isGone(name, of: send.key, before: number) {
                shown[send.key, default: [:]][name] = Showing(send.requestID, send.occurrence)
            }
        case .remove:
            shown[send.key] = names.map { names in shown[send.key]?.filter { !names.contains($0.key) } ?? [:] }
        }
        // These are what the gateway knew before it was told of devices.
        if names != nil { shown[send.key]?[Self.unnamed] = nil }
        if shown[send.key]?.isEmpty == true { shown[send.key] = nil }
    }

    private func showActivity(of key: NotificationKey, on phone: String) {
        shown[key, default: [:]][phone] = activities.showing(key, on: phone)
        if shown[key]?.isEmpty == true { shown[key] = nil }
    }

    /// A person has closed a Live Activity, or the app has ended it.
    func endActivity(_ number: Int) {
        activities.end(number, .person)
        showActivity(of: activities.all[number].key, on: activities.all[number].phone)
    }

    private func isGone(_ device: String, of key: NotificationKey, before number: Int) -> Bool {
        guard let name = try? key.ofRecipient.withIdentifier(device) else { return false }
        return goneBefore[name].map { number < $0 } ?? false
    }

    /// A person has answered a notification on a device, which does not show it any more.
    ///
    /// - Parameter isCertain: whether the action is one that every notification has.
    func answer(_ id: RequestID, _ key: NotificationKey, on device: String, isCertain: Bool = true) {
        let showing = shown[key]?[device]
        guard showing?.requestID == id, isCertain else {
            openAnswers[key, default: [:]][device, default: []].insert(id)
            if let showing { openAnswers[key]?[device]?.insert(showing.requestID) }
            return
        }
        shown[key]?[device] = nil
        if shown[key]?.isEmpty == true { shown[key] = nil }
    }

    /// Whether it is open if a device shows a notification, which a person has answered there. A device that has a name by now may be
    /// all that the gateway knew.
    func isOpen(_ showing: Showing?, of key: NotificationKey, on device: String) -> Bool {
        guard let showing, let answers = openAnswers[key] else { return false }
        if device == Self.unnamed { return answers.values.contains { $0.contains(showing.requestID) } }
        return answers[device]?.contains(showing.requestID) ?? false
    }

    /// An app is gone from a device.
    ///
    /// - Parameter device: the device's key.
    func clear(_ device: NotificationKey) {
        goneBefore[device] = records.count
        activities.clear(device)
        for key in shown.keys where key.isSameRecipient(as: device) { shown[key]?[device.identifier] = nil }
        shown = shown.filter { !$0.value.isEmpty }
    }

    /// The devices of a list that get the notification.
    static func names(_ json: ArraySlice<UInt8>) -> [String] { names(json) { $0 != "suppressed" } }

    /// The devices of the list of an event that have got the notification.
    static func accepted(_ json: ArraySlice<UInt8>) -> [String] { names(json) { $0 == "accepted" } }

    private static func names(_ json: ArraySlice<UInt8>, where isWanted: (String?) -> Bool) -> [String] {
        let list = try? JSONValue.parse(Array(json)).arrayValue
        return (list ?? []).compactMap { device in
            func member(_ name: String) -> String? {
                device.objectValue?.first { $0.name == name }?.value.stringValue
            }
            return isWanted(member("outcome")) ? member("device") : nil
        }
    }

    /// The sender got the outcome, or cancelled the send.
    func tell(_ number: Int, at now: Int64) {
        guard !records[number].isOver else { return }
        records[number].told = now
        toldAt[records[number].send.key] = now
        end(number)
    }

    func end(_ number: Int) {
        if !records[number].isOver { openCount -= 1 }
        records[number].isOver = true
    }
}
