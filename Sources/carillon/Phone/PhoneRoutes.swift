import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import PushSimulation
import ServiceHTTP

/// The calls of the page: what happens, and what is done with simulated phones.
struct PhoneRoutes: Sendable {
    /// The pause after which a quiet stream says that it is there.
    private static let heartbeat = Duration.seconds(10)

    let feed: PhoneFeed
    let simulators: [PhoneSimulator]
    let services: PhoneServices
    let life: PhoneLife
    /// The public key of Web Push; nil when browsers are not reached.
    let browserKey: String?

    var all: [Route] { PhoneFiles.routes + [setup, stream, life.route] + phones + services.routes }

    private var setup: Route {
        PhoneGuard.route(.get, "/v1/setup") { _, _ in
            .json(
                .object(of: [
                    ("application", .string(services.application)),
                    (
                        "platforms",
                        .array(
                            simulators.map { simulator in
                                .object([
                                    .init("platform", .string(simulator.platform.rawValue)),
                                    .init("app", .string(simulator.app)),
                                ])
                            }
                        )
                    ),
                    ("browserKey", browserKey.map(JSONValue.string)), ("tokens", .bool(services.signer != nil)),
                ])
            )
        }
    }

    /// Server-sent events (HTML, 9.2), until the reader leaves.
    private var stream: Route {
        PhoneGuard.route(.get, "/v1/stream") { call, _ in
            let lastID = HTTPField.Name("last-event-id").flatMap { call.request.headers[$0] }
            guard feed.hasRoom else {
                throw Problem(.serviceUnavailable, .overloaded, "Too many pages are open.")
            }
            var response = Response(status: .ok)
            response.headers[.contentType] = "text/event-stream"
            response.headers[.cacheControl] = "no-store"
            // It begins when there is somebody to read: not for HEAD.
            response.body = ResponseBody { writer in
                if let reader = feed.begin(after: lastID) {
                    defer { feed.end(reader) }
                    try await send(reader, &writer)
                }
                try await writer.finish(nil)
            }
            return response
        }
    }

    private func send(_ reader: PhoneFeed.Reader, _ writer: inout any ResponseBodyWriter) async throws {
        let beats = Task { [feed] in
            while (try? await Task.sleep(for: Self.heartbeat)) != nil { feed.beat(reader) }
        }
        defer { beats.cancel() }
        for await message in reader.messages { try await writer.write(ByteBuffer(bytes: message)) }
    }

    // MARK: - Phones

    private var phones: [Route] {
        let phone = "/v1/phones/{platform}/{recipient}/{device}"
        return [
            PhoneGuard.route(.post, phone) { call, body in
                _ = try await call.fields(&body, [])
                let (simulator, id) = try named(in: call)
                let token = try await asking { try await simulator.add(id) }
                let answer = [("token", .string(token)), ("app", .string(simulator.app))] as [(String, JSONValue?)]
                return .json(.object(of: id.members + answer), status: .created)
            },
            PhoneGuard.route(.put, phone) { call, body in
                let (simulator, id) = try named(in: call)
                let fields = try await call.fields(&body, ["online", "badge"])
                let (isOnline, badge) = (try fields.bool("online"), try fields.integer("badge", in: 0...99_999))
                try await asking {
                    if let isOnline { try await simulator.setOnline(isOnline, id) }
                    if let badge { try await simulator.setBadge(badge, id) }
                }
                return Response(status: .noContent)
            },
            PhoneGuard.route(.delete, phone) { call, _ in
                let (simulator, id) = try named(in: call)
                try await asking { try await simulator.remove(id) }
                return Response(status: .noContent)
            },
            PhoneGuard.route(.delete, "\(phone)/notifications/{notification}") { call, _ in
                let (simulator, id) = try named(in: call)
                let identifier = try call.parameter("notification")
                try await asking { try await simulator.dismiss(identifier, on: id) }
                return Response(status: .noContent)
            },
        ]
    }

    private func named(in call: Call) throws -> (PhoneSimulator, PhoneID) {
        let platform = try call.parameter("platform")
        guard let simulator = simulators.first(where: { $0.platform.rawValue == platform }) else {
            throw Problem.missing("simulator of \(platform)")
        }
        let (recipient, device) = (try call.parameter("recipient"), try call.parameter("device"))
        for (name, text) in [("recipient", recipient), ("device", device)] where !(1...256).contains(text.utf8.count) {
            throw ModelError(.invalid, field: name, "must have 1 to 256 bytes")
        }
        let made = PhoneID(simulator.platform, recipient: recipient, device: device)
        guard feed[made] == nil, recipient == simulator.owner else { return (simulator, made) }
        // One that the page has not made has the name that it registers with.
        let own = PhoneID(simulator.platform, simulated: device, owner: recipient)
        return (simulator, own.flatMap { feed[$0]?.id } ?? made)
    }

    private func asking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let failure as CommandFailure {
            throw Problem(.badGateway, .unavailable, "The simulator: \(failure)")
        }
    }
}
