import NIOHPACK
import NotificationModel
import PushSimulation

/// Everything that the simulator knows, without its connections: a value that answers requests.
struct FCMSimulatorState: Sendable {
    var tokenService = TokenService()
    var devices = AndroidDevices()
    var faults = NamedFaults<FCMFault>()
    var statistics = FCMStatistics()
    var generator: SplitMix64
    /// Messages of a project, and to a device, in a minute.
    var quotas: (project: Int, device: Int) = (600_000, 240)
    var acceptsUnknownTokens = false
    var roundTrip = Duration.zero
    private var counts: (minute: Int64, projects: [String: Int], devices: [String: Int]) = (0, [:], [:])
    private var sent = 0

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// Answers a request, with its effects on devices.
    mutating func respond(
        to headers: HPACKHeaders,
        body: UnsafeRawBufferPointer,
        at now: Timestamp
    ) -> ServerOutcome {
        statistics.requests += 1
        let message = Result { () throws(FCMRefusal) in try SentMessage(body) }
        var (delay, isSilent) = (roundTrip, false)
        if !faults.isEmpty {
            let device = (try? message.get()).flatMap { devices.tokens[$0.target]?.device }
            let (more, effect) = faults.effects(on: device, using: &generator)
            delay += more
            switch effect {
            case .refuse(let code, let retryAfter)?:
                guard let refusal = FCMRefusal(errorCode: code, retryAfter: retryAfter) else { break }
                return refuse(refusal, after: delay)
            case .answer(let status, let body)?:
                statistics.refused["\(status)", default: 0] += 1
                let answer = ServerAnswer([":status": "\(status)"], body: Array(body.utf8))
                return ServerOutcome(.answer(answer), after: delay)
            case .refuseStream?: return ServerOutcome(.refuseStream)
            case .goAway?: return ServerOutcome(.goAway([]))
            case .cut?: return ServerOutcome(.cut)
            case .silence?: isSilent = true
            case .delay?, nil: break
            }
        }
        let outcome: ServerOutcome
        do throws(FCMRefusal) {
            let name = try accept(headers, try message.get(), at: now)
            statistics.accepted += 1
            let json = JSONValue.object([.init("name", .string(name))]).json
            outcome = ServerOutcome(
                .answer(
                    ServerAnswer([":status": "200", "content-type": "application/json; charset=UTF-8"], body: json)
                ),
                after: delay
            )
        } catch {
            outcome = refuse(error, after: delay)
        }
        guard isSilent else { return outcome }
        statistics.unanswered += 1
        return ServerOutcome(.silence)
    }

    private mutating func refuse(_ refusal: FCMRefusal, after delay: Duration) -> ServerOutcome {
        statistics.refused[refusal.code ?? refusal.rpc, default: 0] += 1
        return ServerOutcome(.answer(refusal.answer), after: delay)
    }

    /// - Returns: the name of the message.
    private mutating func accept(
        _ headers: HPACKHeaders,
        _ message: SentMessage,
        at now: Timestamp
    ) throws(FCMRefusal) -> String {
        let project = try project(of: headers, at: now)
        try count(project: project, message.target, at: now)
        sent += 1
        let name = "projects/\(project)/messages/0:\(now.rawValue)%\(sent)"
        guard let token = devices.tokens[message.target] else {
            guard acceptsUnknownTokens else {
                throw .invalid(message.targetField, "The registration token is not a valid FCM registration token")
            }
            return name
        }
        guard token.project == project else {
            throw FCMRefusal(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH", "SenderId mismatch")
        }
        guard !token.hasEnded else {
            throw FCMRefusal(404, "NOT_FOUND", code: "UNREGISTERED", "Requested entity was not found.")
        }
        if let package = message.package, package != token.package {
            throw .invalid("message.android.restricted_package_name", "The token is of another package.")
        }
        guard !message.isValidateOnly else { return "projects/\(project)/messages/fake_message_id" }
        devices.deliver(message, to: token, at: now)
        return name
    }

    /// The project of the path, to which the access token must be allowed to send.
    private func project(of headers: HPACKHeaders, at now: Timestamp) throws(FCMRefusal) -> String {
        let path = headers.first(name: ":path") ?? ""
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard headers.first(name: ":method") == "POST", parts.count == 5, parts[0].isEmpty, parts[1] == "v1",
            parts[2] == "projects", parts[4] == "messages:send", !parts[3].isEmpty
        else { throw FCMRefusal(404, "NOT_FOUND", "Requested entity was not found.") }
        let project = String(parts[3])
        let field = headers.first(name: "authorization") ?? ""
        guard field.hasPrefix("Bearer "), let own = tokenService.project(of: field.dropFirst(7), at: now) else {
            throw FCMRefusal(
                401,
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials. Expected OAuth 2 access token."
            )
        }
        guard own == project else {
            throw FCMRefusal(
                403,
                "PERMISSION_DENIED",
                "Permission 'cloudmessaging.messages.create' denied on resource "
                    + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist)."
            )
        }
        guard headers.first(name: "content-type")?.hasPrefix("application/json") == true else {
            throw FCMRefusal(400, "INVALID_ARGUMENT", "Invalid JSON payload received: the content type is not JSON.")
        }
        return project
    }

    /// What is refused counts, too, unless the quota refuses it.
    private mutating func count(project: String, _ token: String, at now: Timestamp) throws(FCMRefusal) {
        let minute = now.rawValue / 60_000
        if counts.minute != minute { counts = (minute, [:], [:]) }
        guard counts.projects[project, default: 0] < quotas.project else {
            throw FCMRefusal(
                429,
                "RESOURCE_EXHAUSTED",
                code: "QUOTA_EXCEEDED",
                "Quota exceeded for quota metric 'Messages sent' of the project.",
                quota: "project:\(project)"
            )
        }
        counts.projects[project, default: 0] += 1
        guard devices.tokens[token] != nil else { return }
        guard counts.devices[token, default: 0] < quotas.device else {
            throw FCMRefusal(
                429,
                "RESOURCE_EXHAUSTED",
                code: "QUOTA_EXCEEDED",
                "Device message rate exceeded.",
                quota: "device"
            )
        }
        counts.devices[token, default: 0] += 1
    }
}

/// What the simulator has counted since it began.
public struct FCMStatistics: Sendable, Hashable {
    /// Requests that arrived completely.
    public internal(set) var requests = 0
    /// Messages that were accepted.
    public internal(set) var accepted = 0
    /// Other answers, by `errorCode`, else `status`.
    public internal(set) var refused: [String: Int] = [:]
    /// Messages that were left without an answer.
    public internal(set) var unanswered = 0
    /// GOAWAYs.
    public internal(set) var goAways = 0
    /// Connections whose TLS handshake succeeded.
    public internal(set) var connections = 0
    /// Access tokens that were given.
    public internal(set) var accessTokens = 0
}
