public import NotificationModel

/// How a simulator is started.
public struct FCMSimulatorConfiguration: Sendable {
    /// The address of the port of FCM.
    public var host = "127.0.0.1"
    /// The port that stands for `fcm.googleapis.com`; 0 takes a free one.
    public var port = 0
    /// The port of the token service and the control interface, always on 127.0.0.1; 0 takes a free one.
    public var controlPort = 0
    /// Where the files for clients are: `ca.pem`, and the key file of a service account. Keys of an earlier run are used again.
    public var directory: String
    /// The project of the service account that the simulator makes.
    public var project = "carillon-simulated"
    /// Messages of a project in a minute before `QUOTA_EXCEEDED`, 1 to 100,000,000.
    public var messagesPerMinute = 600_000
    /// Messages to a device in a minute before `QUOTA_EXCEEDED`, 1 to 100,000,000.
    public var messagesPerDeviceAndMinute = 240
    /// Whether tokens that nobody registered are accepted; what is sent to them is dropped. For benchmarks.
    public var acceptsUnknownTokens = false
    /// Streams of a connection at one time; more end it. 1 to 10,000.
    public var streams = 100
    /// The time between a request's end and its answer.
    public var roundTrip = Duration.zero
    /// How long access tokens are good, in seconds, 1 to 86,400.
    public var tokenLifetime: Int64 = 3_599
    /// Of what is left to chance; nil for another one each time.
    public var seed: UInt64?
    /// The wall clock.
    public var now: @Sendable () -> Timestamp = SystemClock.now

    /// - Parameter directory: Made if it is not there.
    public init(directory: String) { self.directory = directory }
}
