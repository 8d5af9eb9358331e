import NotificationDelivery

/// A server in a process of its own that accepts every push and counts them, and the channel that sends to it.
protocol PushTarget {
    /// Whose place it takes, for errors.
    var name: String { get }
    /// Pushes that it has accepted since its start.
    func accepted() throws -> Int
    /// The channel, with settings for it.
    ///
    /// - Parameter connections: the most of the channel.
    func channel(connections: Int) throws -> any DeliveryChannel & Sendable
    /// A notification for one device, as a lane gives it to the channel. Each number is another one.
    func send(_ number: Int) throws -> Issued<ChannelSend>
    /// A push of the channel, for other clients.
    func request() throws -> H2Load.Request
}
