import NotificationModel

/// What holds a request of the workload back or limits it, in the standard zone. It shares no code with the model.
struct SimulatedLimits {
    struct Quiet {
        /// Minutes of the day.
        var start: Int64
        var end: Int64
        var isHold: Bool
    }

    /// Of all caps of a run.
    static let capCount = 1
    static let capPeriod: Int64 = 3_600_000

    /// Of all digests, in milliseconds.
    static let longestWindow: Int64 = 60_000

    var quiet: Quiet?
    var isCapped = false
    /// Milliseconds; nil for no digest.
    var digestWindow: Int64?
    /// It passes all limits.
    var isCritical = false

    /// The members of a request, each after a comma.
    var json: String {
        var json = ""
        if let quiet {
            let policy = quiet.isHold ? "hold" : "suppress"
            json += ",\"quietHours\":{\"start\":\"\(Self.time(quiet.start))\",\"end\":\"\(Self.time(quiet.end))\""
            json += ",\"policy\":\"\(policy)\",\"timeZone\":\"\(SimulatedZone.name)\"}"
        }
        if isCapped { json += ",\"cap\":{\"count\":\(Self.capCount),\"period\":\(Self.capPeriod / 1000)}" }
        if let digestWindow { json += ",\"digest\":{\"by\":\"thread\",\"window\":\(digestWindow / 1000)}" }
        return json
    }

    private static func time(_ minute: Int64) -> String {
        func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// Whether an instant is certainly in the quiet time: some seconds from its ends, and an hour from a change of the clock.
    func isQuiet(at instant: Timestamp) -> Bool {
        guard let quiet, !isCritical else { return false }
        let now = instant.rawValue / 1000
        let offset = SimulatedZone.offset(at: now)
        guard (-1...1).allSatisfy({ SimulatedZone.offset(at: now + 3600 * $0) == offset }) else { return false }
        let second = (now + offset) % 86_400
        func isIn(_ second: Int64) -> Bool {
            let minute = (second + 86_400) % 86_400 / 60
            return quiet.start < quiet.end
                ? (quiet.start..<quiet.end).contains(minute) : minute >= quiet.start || minute < quiet.end
        }
        return isIn(second - 3) && isIn(second) && isIn(second + 3)
    }
}
