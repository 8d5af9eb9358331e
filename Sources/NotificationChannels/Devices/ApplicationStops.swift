import NotificationModel

/// The applications to which nothing is sent, because a push service refuses their credentials: until an operator corrects them,
/// one push tries after each pause. A value.
struct ApplicationStops: Sendable {
    /// After how long a push tries again, in milliseconds.
    static let pause: Int64 = 60_000

    private struct Stop {
        var why: String
        /// When the next push tries.
        var next: Timestamp
    }

    private let service: String
    private var stops: [ExactText: Stop] = [:]

    /// - Parameter service: for people: who refuses the credentials.
    init(of service: String) { self.service = service }

    /// Whether a push for an application may go out; if it is stopped and its pause is over, only this one.
    ///
    /// - Returns: nil when it may; else the milliseconds until the next one may.
    mutating func pause(of application: String, at now: Timestamp) -> Int64? {
        guard let stop = stops[ExactText(application)] else { return nil }
        guard now >= stop.next else { return stop.next.rawValue - now.rawValue }
        stops[ExactText(application)]?.next = now.adding(milliseconds: Self.pause)
        return nil
    }

    /// The service has refused the credentials of an application.
    ///
    /// - Returns: whether that is new.
    mutating func stop(_ application: String, because why: String, at now: Timestamp) -> Bool {
        let next = now.adding(milliseconds: Self.pause)
        return stops.updateValue(Stop(why: why, next: next), forKey: ExactText(application))?.why != why
    }

    /// The service has accepted a push of an application.
    ///
    /// - Returns: whether it was stopped.
    mutating func resume(_ application: String) -> Bool {
        !stops.isEmpty && stops.removeValue(forKey: ExactText(application)) != nil
    }

    /// Some were corrected.
    ///
    /// - Returns: those that are not stopped any more.
    mutating func resume(where isCorrected: (String) -> Bool) -> [String] {
        let names = stops.keys.map(\.text).filter(isCorrected)
        for name in names { stops[ExactText(name)] = nil }
        return names
    }

    /// The credentials were read again: each application may try at once.
    mutating func tryAll() {
        for name in stops.keys { stops[name]?.next = .earliest }
    }

    var count: Int { stops.count }

    /// For people: one of them, and how many; nil when there is none.
    var summary: String? {
        guard let (name, stop) = stops.min(by: { $0.key < $1.key }) else { return nil }
        let others = stops.count == 1 ? "" : ", and \(stops.count - 1) other applications"
        return "\(service) refuses the credentials of \(name): \(stop.why)\(others)"
    }
}
