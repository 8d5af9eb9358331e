import NIOHPACK
import NotificationModel
import OutboundHTTP
import Synchronization

/// The connections to APNs: a pool for each credentials and environment, shared by the applications that have the same.
struct APNsSenders: Sendable {
    /// A pool, and what a push over it begins with.
    final class Sender: Sendable {
        let credentials: APNsCredentials
        let environment: DeviceRegistration.Environment
        let pool: HTTP2Pool
        /// Of the pool.
        let tls: OutboundTLS.Client
        let origin: EgressURL
        /// The pseudo-header fields of the server, without `:path`.
        private let beginning: HPACKHeaders
        /// As many as there are topics, types and priorities.
        private let shared = Mutex<[SharedHeaders: HTTP2Fields.Shared]>([:])

        init(
            _ credentials: APNsCredentials,
            _ environment: DeviceRegistration.Environment,
            _ pool: HTTP2Pool,
            _ tls: OutboundTLS.Client,
            to origin: EgressURL
        ) {
            (self.credentials, self.environment, self.pool, self.tls) = (credentials, environment, pool, tls)
            self.origin = origin
            beginning = .pseudo("POST", origin)
        }

        /// The fields of a push that it shares with others.
        func shared(of headers: APNsHeaders) -> HTTP2Fields.Shared {
            shared.withLock { [beginning] shared in
                let key = SharedHeaders(headers)
                if let known = shared[key] { return known }
                let made = headers.shared(after: beginning)
                shared[key] = made
                return made
            }
        }
    }

    /// What tells the shared fields of pushes apart.
    private struct SharedHeaders: Hashable {
        /// Nil for a broadcast, whose app is in the path.
        let topic: ExactText?
        let pushType: APNsPushType
        let priority: APNsPriority

        init(_ headers: APNsHeaders) {
            topic = headers.broadcastChannel == nil ? ExactText(headers.topic) : nil
            (pushType, priority) = (headers.pushType, headers.priority)
        }
    }

    /// An application, and where its pushes go. Each push on its way has it: copies of a struct would count all its members.
    final class Route: Sendable {
        /// The name in keys of notifications.
        let name: String
        let application: APNsApplication
        private let production: Sender?
        private let development: Sender?

        init(_ name: String, _ application: APNsApplication, _ senders: [DeviceRegistration.Environment: Sender]) {
            (self.name, self.application) = (name, application)
            (production, development) = (senders[.production], senders[.development])
        }

        /// - Returns: nil when the application has no credentials for the environment.
        subscript(environment: DeviceRegistration.Environment) -> Sender? {
            switch environment {
            case .production: production
            case .development: development
            }
        }
    }

    private(set) var applications = APNsApplications()
    private(set) var all: [Sender] = []
    private var routes: [ExactText: Route] = [:]

    /// Puts other applications in the place of these. What has the same credentials keeps its connections.
    ///
    /// - Parameter make: the pool for credentials, perhaps beside one of the same for the other environment.
    /// - Returns: what nobody uses any more.
    mutating func use(
        _ applications: APNsApplications,
        _ make: (APNsCredentials, DeviceRegistration.Environment, Sender?) throws -> Sender
    ) rethrows -> [Sender] {
        var (senders, routes): ([Sender], [ExactText: Route]) = ([], [:])
        for (name, application) in applications.byName {
            var own: [DeviceRegistration.Environment: Sender] = [:]
            for (environment, credentials) in application.credentials {
                func isSame(_ sender: Sender) -> Bool {
                    sender.environment == environment && sender.credentials.isSame(as: credentials)
                }
                if let sender = senders.first(where: isSame) {
                    own[environment] = sender
                } else {
                    let sibling = (senders + all).first { $0.credentials.isSame(as: credentials) }
                    let sender = try all.first(where: isSame) ?? make(credentials, environment, sibling)
                    senders.append(sender)
                    own[environment] = sender
                }
            }
            routes[name] = Route(name.text, application, own)
        }
        let unused = all.filter { former in !senders.contains { $0 === former } }
        (self.applications, all, self.routes) = (applications, senders, routes)
        return unused
    }

    /// - Parameter name: of an application.
    subscript(name: String) -> Route? { routes[ExactText(name)] }
}
