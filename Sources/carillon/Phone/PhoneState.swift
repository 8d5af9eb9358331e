import NotificationModel
import PushSimulation

/// The names of a simulated phone.
struct PhoneID: Hashable, Sendable {
    /// What its simulator stands for.
    enum Platform: String, CaseIterable, Sendable {
        case apns, fcm
    }

    let platform: Platform
    let recipient: String
    /// As it registers with Carillon.
    let device: String
    /// As the simulator knows it.
    let simulated: String

    /// One that the page makes: the simulator knows it as `recipient/device`, each percent-encoded, so that nothing has to be
    /// remembered.
    init(_ platform: Platform, recipient: String, device: String) {
        (self.platform, self.recipient, self.device) = (platform, recipient, device)
        simulated = "\(PercentEncoding.encode(recipient))/\(PercentEncoding.encode(device))"
    }

    /// One that the simulator has.
    ///
    /// - Parameter owner: whose are those that have another name; nil when they are left out.
    init?(_ platform: Platform, simulated: String, owner: String?) {
        let parts = simulated.split(separator: "/", omittingEmptySubsequences: false).map {
            try? PercentEncoding.decodeOnce(String($0))
        }
        if parts.count == 2, let recipient = parts[0], let device = parts[1], !recipient.isEmpty, !device.isEmpty {
            (self.recipient, self.device) = (recipient, device)
        } else if parts.count == 1, let owner {
            (recipient, device) = (owner, simulated)
        } else {
            return nil
        }
        (self.platform, self.simulated) = (platform, simulated)
    }

    var members: [(String, JSONValue?)] {
        [
            ("platform", .string(platform.rawValue)), ("recipient", .string(recipient)), ("device", .string(device)),
        ]
    }
}

/// What a simulated phone shows.
struct PhoneState: Hashable, Sendable {
    /// A notification on it.
    struct Shown: Hashable, Sendable {
        /// What replaces it has the same.
        var identifier: String
        /// As the simulator tells it.
        var json: JSONValue
    }

    var id: PhoneID
    /// The bundle identifier or the package.
    var app: String
    /// Nil without one that is good.
    var token: String?
    var isOnline: Bool
    /// The number on the app's icon; nil where the platform has none.
    var badge: Int64?
    /// In the order in which they were shown.
    var shown: [Shown]

    /// Reads the answer of a simulator's `GET /v1/devices/{device}`.
    ///
    /// - Returns: nil when the app is not on the device.
    init?(_ id: PhoneID, app: String, _ json: JSONValue) {
        let (nameMember, keyMember) =
            switch id.platform {
            case .apns: ("bundleIdentifier", "identifier")
            case .fcm: ("package", "tag")
            }
        let apps = json["apps"]?.arrayValue ?? []
        guard let own = apps.first(where: { $0[nameMember]?.stringValue == app }) else { return nil }
        (self.id, self.app) = (id, app)
        token =
            (json["tokens"]?.arrayValue ?? []).lazy.compactMap { token -> String? in
                if let text = token.stringValue { return text }
                return token["topic"]?.stringValue == app && token["ended"] == nil ? token["token"]?.stringValue : nil
            }.first
        isOnline = json["online"]?.boolValue ?? true
        badge = own["badge"]?.integerValue
        shown = (own["shown"]?.arrayValue ?? []).compactMap { shown in
            shown[keyMember]?.stringValue.map { Shown(identifier: $0, json: shown) }
        }
    }

    /// All of it, or what has changed since.
    ///
    /// - Parameter former: what a reader knows; nil for nothing.
    /// - Returns: nil when nothing has changed.
    func change(since former: PhoneState?) -> JSONValue? {
        guard former != self else { return nil }
        let known = Dictionary((former?.shown ?? []).map { ($0.identifier, $0.json) }) { _, last in last }
        let new = shown.filter { known[$0.identifier] != $0.json }
        let kept = Set(shown.map(\.identifier))
        let gone = (former?.shown ?? []).map(\.identifier).filter { !kept.contains($0) }
        return .object(
            of: id.members + [
                ("app", .string(app)), ("token", token.map(JSONValue.string)), ("online", .bool(isOnline)),
                ("badge", badge.map(JSONValue.number)), ("reset", former == nil ? .bool(true) : nil),
                (
                    "put",
                    .array(
                        new.map { .object(of: [("identifier", .string($0.identifier)), ("shown", $0.json)]) }
                    )
                ),
                ("drop", .array(gone.map(JSONValue.string))),
            ]
        )
    }
}
