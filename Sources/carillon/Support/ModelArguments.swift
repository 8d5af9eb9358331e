// Types of the model on the command line. The imports are public because the conformances of public types are.
public import ArgumentParser
public import NotificationModel

extension Timestamp: ExpressibleByArgument {
    /// RFC 3339.
    public init?(argument: String) {
        self.init(rfc3339: argument)
    }
}

extension RemovalScope: ExpressibleByArgument {}

extension ChannelName: ExpressibleByArgument {}

extension ReceiptSignal.Receipt: ExpressibleByArgument {}

extension ReportSignal.Outcome: ExpressibleByArgument {}

extension AppStateSignal.State: ExpressibleByArgument {}

extension AuthorizationStatus: ExpressibleByArgument {}

extension DeviceRegistration.Environment: ExpressibleByArgument {}

extension TokenKind: ExpressibleByArgument {}

extension InterruptionLevel: ExpressibleByArgument {}
