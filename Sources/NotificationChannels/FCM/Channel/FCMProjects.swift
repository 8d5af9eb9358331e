import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import NotificationModel
import OutboundHTTP
import ServiceSupport
import Synchronization

/// A Firebase project, as a service account reaches it: its connections, access tokens and quota.
final class FCMProject: Sendable {
    let id: String
    let tokens: AccessTokens
    let pool: HTTP2Pool
    let origin: EgressURL
    let pace: Mutex<ProjectPace<FCMFlight>>
    /// Whether it has reached any device: else the account may be of another project than the tokens.
    let isProven = Atomic(false)
    private let beginning: HPACKHeaders
    /// Those of the last token.
    private let fields = Mutex<(token: AccessTokens.Token, fields: HTTP2Fields)?>(nil)

    init(
        _ id: String,
        _ tokens: AccessTokens,
        _ pool: HTTP2Pool,
        to origin: EgressURL,
        pace: ProjectPace<FCMFlight>
    ) {
        (self.id, self.tokens, self.pool, self.origin) = (id, tokens, pool, origin)
        self.pace = Mutex(pace)
        var beginning = HPACKHeaders.pseudo("POST", origin)
        // The same for each message.
        beginning.add(name: ":path", value: "/v1/projects/\(id)/messages:send", indexing: .indexable)
        beginning.add(name: "content-type", value: "application/json")
        self.beginning = beginning
    }

    func fields(_ token: AccessTokens.Token) -> HTTP2Fields {
        fields.withLock { [beginning] last in
            if let last, last.token == token { return last.fields }
            var shared = beginning
            // The same for most of an hour, and more than half of all bytes.
            shared.add(name: "authorization", value: token.authorization, indexing: .indexable)
            let fields = HTTP2Fields(HTTP2Fields.Shared(shared))
            last = (token, fields)
            return fields
        }
    }
}

/// The projects of the applications; those of several with the same account and project are one.
struct FCMProjects: Sendable {
    /// An application, and where its messages go.
    struct Route: Sendable {
        let application: FCMApplication
        let project: FCMProject
    }

    private(set) var count = 0
    private(set) var all: [FCMProject] = []
    private var routes: [ExactText: Route] = [:]

    /// Puts other applications in the place of these. What has the same account and project keeps its connections and tokens.
    ///
    /// - Parameter make: the project of an application.
    /// - Returns: what nobody uses any more.
    mutating func use(
        _ applications: FCMApplications,
        _ make: (FCMApplication) throws -> FCMProject
    ) rethrows -> [FCMProject] {
        var (projects, routes): ([FCMProject], [ExactText: Route]) = ([], [:])
        for (name, application) in applications.byName {
            func isSame(_ project: FCMProject) -> Bool {
                project.id == application.project && project.tokens.account.isSame(as: application.account)
            }
            let project: FCMProject
            if let known = projects.first(where: isSame) {
                project = known
            } else {
                project = try all.first(where: isSame) ?? make(application)
                projects.append(project)
            }
            routes[name] = Route(application: application, project: project)
        }
        let unused = all.filter { former in !projects.contains { $0 === former } }
        (count, all, self.routes) = (applications.count, projects, routes)
        return unused
    }

    /// - Parameter name: of an application.
    subscript(name: String) -> Route? { routes[ExactText(name)] }
}

/// Makes projects, all by the same settings.
final class FCMProjectMaker: Sendable {
    private let configuration: FCMConfiguration
    private let egress: EgressConfiguration
    private let settings: HTTP2Pool.Settings
    private let server: PushServer
    private let authorities: [NIOSSLCertificate]
    /// Of all projects.
    private let tls: OutboundTLS.Client
    /// Of all pools: with many projects a network that has failed would get as many connections at once when it works again.
    private let rate = HTTP2OpenRate(perSecond: 20, atOnce: 40)
    private let observer: any HTTP2PoolObserver
    private let wall: @Sendable () -> Timestamp
    /// By `token_uri`: nearly all accounts have the same.
    private let tokenServers = Mutex<[String: TokenServer]>([:])

    /// - Throws: `PushSettingsError` for a URL that the policy refuses, `EgressPolicyError`.
    init(
        _ configuration: FCMConfiguration,
        _ egress: EgressConfiguration,
        observer: any HTTP2PoolObserver,
        wall: @escaping @Sendable () -> Timestamp
    ) throws {
        (self.configuration, self.egress, self.observer, self.wall) = (configuration, egress, observer, wall)
        var settings = HTTP2Pool.Settings()
        settings.connections = configuration.connections
        // More end the connection.
        settings.streams = 100
        settings.waiting = configuration.waiting
        settings.age = .nanoseconds(egress.connectionAge.nanoseconds)
        settings.answerBytes = FCMAnswer.maximumBodyBytes
        settings.openTimeout = .nanoseconds(configuration.timeout.nanoseconds)
        self.settings = settings
        server = try PushServer(
            configuration.url,
            setting: "fcm.url",
            isInternal: configuration.isInternal,
            egress,
            timeout: settings.openTimeout
        )
        authorities = try egress.authorities()
        tls = try OutboundTLS.Client(and: authorities)
    }

    func project(of application: FCMApplication) throws -> FCMProject {
        let pool = HTTP2Pool(
            settings,
            to: server.origin,
            hosts: server.hosts,
            tls: tls,
            sharing: rate,
            observer: observer
        )
        let tokens = AccessTokens(application.account, from: try tokenServer(of: application.account), wall: wall)
        let pace = ProjectPace<FCMFlight>(
            perSecond: configuration.rate,
            room: configuration.waiting,
            // The rest is for the message itself.
            patience: configuration.timeout.milliseconds / 2
        )
        return FCMProject(application.project, tokens, pool, to: server.origin, pace: pace)
    }

    private func tokenServer(of account: ServiceAccount) throws -> TokenServer {
        try tokenServers.withLock { servers in
            if let known = servers[account.tokenURL] { return known }
            let timeout = TimeAmount.nanoseconds(configuration.timeout.nanoseconds)
            let server = try PushServer(
                account.tokenURL,
                setting: "\(FCMApplicationsFile.setting): `token_uri` of the service account of \(account.project)",
                isInternal: configuration.isInternal,
                egress,
                timeout: timeout
            )
            let pool = try OutboundConnections(
                TokenServer.bounds(timeout: timeout),
                hosts: server.hosts,
                and: authorities
            )
            let made = TokenServer(server, pool, timeout: timeout)
            servers[account.tokenURL] = made
            return made
        }
    }
}
