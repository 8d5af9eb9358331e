/// What does not fit a record is left out of an event, by a rule that is the same at every size of records. The content is
/// never left out: a request whose content is too large for its events is refused.
extension DeliveryEvent {
    /// Parts that were left out, in the order in which they are.
    public struct Omissions: OptionSet, Sendable, Hashable {
        /// A bit each.
        public let rawValue: UInt8

        /// Parts from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The report of the enrichment.
        public static let enrichment = Omissions(rawValue: 1)
        /// The actions, which the app knows by the category of the content.
        public static let actions = Omissions(rawValue: 2)
        /// `platform`, `token`, `environment` and `bundleIdentifier` of all devices, which queries know.
        public static let registrations = Omissions(rawValue: 4)
        /// Some devices: first those that get nothing, then the last ones of the list.
        public static let devices = Omissions(rawValue: 8)

        private static let all: [(part: Omissions, name: String)] = [
            (.enrichment, "enrichment"), (.actions, "actions"), (.registrations, "registrations"),
            (.devices, "devices"),
        ]

        /// The names of the parts, in their order.
        public var names: [String] { Self.all.filter { contains($0.part) }.map(\.name) }

        /// Parts by their names; ignores unknown ones.
        init(names: [String]) {
            self = Self.all.filter { names.contains($0.name) }.reduce([]) { $0.union($1.part) }
        }
    }

    private static let registrationFields: Set = ["platform", "token", "environment", "bundleIdentifier"]

    /// The event without what does not fit; the same event if all does.
    ///
    /// - Parameter limit: bytes of the event's JSON.
    public func shortened(to limit: Int) -> DeliveryEvent {
        var event = self
        var fits: Bool { event.json.count <= limit }
        guard !fits else { return self }
        if event.enrichment != nil {
            event.enrichment = nil
            event.omitted.insert(.enrichment)
        }
        if !fits, event.actions != nil {
            event.actions = nil
            event.omitted.insert(.actions)
        }
        guard !fits, let devices = try? event.devices.map({ try JSONValue.parse($0) })?.arrayValue else { return event }
        let known = devices.map(Self.withoutRegistration)
        if known != devices {
            event.devices = JSONValue.array(known).json[...]
            event.omitted.insert(.registrations)
        }
        guard !fits else { return event }
        event.omitted.insert(.devices)
        event.devices = Array("[]".utf8)[...]
        var room = limit - event.json.count
        var kept: [Int] = []
        let isLeft = { (index: Int) in known[index]["reason"] != nil }
        for index in known.indices.filter({ !isLeft($0) }) + known.indices.filter(isLeft) {
            let bytes = known[index].json.count + 1
            guard bytes <= room else { break }
            room -= bytes
            kept.append(index)
        }
        event.devices = JSONValue.array(kept.sorted().map { known[$0] }).json[...]
        return event
    }

    private static func withoutRegistration(_ device: JSONValue) -> JSONValue {
        guard let members = device.objectValue else { return device }
        return .object(members.filter { !registrationFields.contains($0.name) })
    }
}

extension ResponseEvent {
    /// The event without the content that it answers, if it does not fit with it.
    ///
    /// - Parameter limit: bytes of the event's JSON.
    public func shortened(to limit: Int) -> ResponseEvent {
        guard content != nil, json.count > limit else { return self }
        var event = self
        (event.content, event.omitsContent) = (nil, true)
        return event
    }
}
