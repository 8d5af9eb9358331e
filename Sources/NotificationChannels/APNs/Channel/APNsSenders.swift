import NIOHPACK
import NotificationModel
import OutboundHTTP

/// The connections to APNs: a pool for each credentials and environment, shared by the applications that have the same.
struct APNsSenders: Sendable {
    /// A pool, and what a push over it begins with.
    final class Sender: Sendable {
        let credentials: APNsCredentials
        let environment: DeviceRegistration.Environment
        let pool: HTTP2Pool
        /// The pseudo-header fields of the server, without `:path`.
        let beginning: HPACKHeaders

        init(
            _ credentials: APNsCredentials,
            _ environment: DeviceRegistration.Environment,
            _ pool: HTTP2Pool,
            to origin: EgressURL
        ) {
            (self.credentials, self.environment, self.pool) = (credentials, environment, pool)
            beginning = .pseudo("POST", origin)
        }
    }

    private(set) var applications: APNsApplications
    private(set) var all: [Sender] = []

    init(_ applications: APNsApplications) { self.applications = applications }

    /// Puts other applications in the place of these. What has the same credentials keeps its connections.
    ///
    /// - Parameter make: the pool for credentials.
    /// - Returns: what nobody uses any more.
    mutating func use(
        _ applications: APNsApplications,
        _ make: (APNsCredentials, DeviceRegistration.Environment) throws -> Sender
    ) rethrows -> [Sender] {
        var senders: [Sender] = []
        for credentials in applications.credentials {
            for environment in DeviceRegistration.Environment.allCases {
                let same = all.first { $0.environment == environment && $0.credentials.isSame(as: credentials) }
                senders.append(try same ?? make(credentials, environment))
            }
        }
        let unused = all.filter { former in !senders.contains { $0 === former } }
        (self.applications, all) = (applications, senders)
        return unused
    }

    /// The sender of an application; nil when it has no credentials for the environment.
    func sender(of application: APNsApplication, _ environment: DeviceRegistration.Environment) -> Sender? {
        guard let credentials = application.credentials[environment] else { return nil }
        return all.first { $0.environment == environment && $0.credentials.isSame(as: credentials) }
    }
}
