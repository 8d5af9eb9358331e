public import NotificationModel

/// How a simulator is started.
public struct APNsSimulatorConfiguration: Sendable {
    /// The address of both ports of APNs.
    public var host = "127.0.0.1"
    /// The port that stands for `api.push.apple.com`; 0 takes a free one.
    public var productionPort = 0
    /// The port that stands for `api.sandbox.push.apple.com`; 0 takes a free one.
    public var developmentPort = 0
    /// The port of the control interface, always on 127.0.0.1; 0 takes a free one, nil opens none.
    public var controlPort: Int? = 0
    /// Where the files for clients are: `ca.pem`, and `AuthKey_….p8` if no key is given. Files of an earlier run are used
    /// again.
    public var directory: String
    /// The keys of providers; without one the simulator makes one.
    public var keys: [ProviderKey] = []
    /// Whether tokens that nobody registered are accepted; what is sent to them is dropped. For benchmarks.
    public var acceptsUnknownTokens = false
    /// Pushes that a token may get in ``tokenRateSeconds`` before `TooManyRequests`; nil for no limit.
    public var pushesPerToken: Int?
    /// 1 to 86,400.
    public var tokenRateSeconds = 60
    /// How connections behave.
    public var behaviour = ConnectionBehaviour()
    /// Of what is left to chance; nil for another one each time.
    public var seed: UInt64?
    /// The wall clock.
    public var now: @Sendable () -> Timestamp = SystemClock.now

    /// - Parameter directory: Made if it is not there.
    public init(directory: String) { self.directory = directory }
}
