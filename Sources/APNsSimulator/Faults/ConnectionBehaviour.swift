import PushSimulation

/// How connections behave when nothing is wrong with a request.
public struct ConnectionBehaviour: Sendable, Hashable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS once a request has succeeded, and at once with a client certificate; 1 to 10,000.
    public var maximumStreams = 500
    /// The same until the first success.
    public var firstStreams = 1
    /// The same after a refusal, until the next success; nil leaves it as it is.
    public var streamsAfterRefusal: Int?
    /// The time between the end of the TLS handshake and the first SETTINGS.
    public var settingsDelay = Duration.zero
    /// SETTINGS_INITIAL_WINDOW_SIZE: bytes of a stream's body that may be on their way, 1 to 2,147,483,647.
    public var streamWindow = 65_535
    /// The time until a window that has been used up is opened again: clients wait for it.
    public var windowDelay = Duration.zero
    /// The time between a request's end and its answer.
    public var roundTrip = Duration.zero
    /// Whether a connection that has answered `ExpiredProviderToken` answers nothing any more.
    public var isWedgedByExpiredToken = true
    /// The same after `TooManyProviderTokenUpdates`.
    public var isSilencedByTokenUpdates = true

    /// As APNs on a good day.
    public init() {}

    /// - Throws: When a number is out of its range.
    func check() throws(APNsSimulatorError) {
        for (name, streams) in [
            ("maximumStreams", maximumStreams), ("firstStreams", firstStreams),
            ("streamsAfterRefusal", streamsAfterRefusal ?? 1),
        ] {
            guard (1...10_000).contains(streams) else { throw APNsSimulatorError("\(name) must be from 1 to 10000") }
        }
        guard (1...Int(Int32.max)).contains(streamWindow) else {
            throw APNsSimulatorError("streamWindow must be from 1 to \(Int32.max)")
        }
        for (name, time) in [
            ("settingsDelay", settingsDelay), ("windowDelay", windowDelay), ("roundTrip", roundTrip),
        ] {
            guard (.zero ... .seconds(3_600)).contains(time) else {
                throw APNsSimulatorError("\(name) must be from 0 to 3600 seconds")
            }
        }
    }
}
