import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import PushSimulation
import ServiceHTTP
import Synchronization

/// The calls of the control interface.
struct ControlRoutes: Sendable {
    let core: SimulatorCore

    var all: [Route] {
        devices + keys + certificates + faults + connections
            + ChangeRoutes { core.state.withLock { $0.devices.revision } }.all
    }

    // MARK: Devices

    private var devices: [Route] {
        let device = "/v1/devices/{device}"
        return [
            Route(.get, "/v1/devices", role: nil) { call, _ in try listDevices(call) },
            Route(.delete, "/v1/devices", role: nil) { _, _ in
                core.state.withLock { $0.devices.removeAll() }
                return Response(status: .noContent)
            },
            Route(.get, device, role: nil) { call, _ in
                let name = try call.parameter("device")
                let json = core.state.withLock { state in
                    state.devices.devices[name].map { $0.json(tokens: state.devices.tokens(of: name)) }
                }
                return try .json(json, orMissing: "device \(name)")
            },
            Route(.put, device, role: nil) { call, body in try await putDevice(call, &body) },
            Route(.delete, device, role: nil) { call, _ in
                let name = try call.parameter("device")
                return try .done(core.state.withLock { $0.devices.remove(name) }, orMissing: "device \(name)")
            },
            Route(.get, "\(device)/pushes", role: nil) { call, _ in
                let name = try call.parameter("device")
                let pushes = core.state.withLock { $0.devices.devices[name]?.pushes }
                let json = pushes.map { JSONValue.object([.init("pushes", .array($0.map(\.json)))]) }
                return try .json(json, orMissing: "device \(name)")
            },
            Route(.post, "\(device)/tokens", role: nil) { call, body in
                let token = core.state.withLock { DeviceRegistry.token(using: &$0.generator) }
                return try await register(token, call, &body)
            },
            Route(.put, "\(device)/tokens/{token}", role: nil) { call, body in
                try await register(try call.parameter("token"), call, &body)
            },
            Route(.delete, "\(device)/tokens/{token}", role: nil) { call, _ in
                let (name, token) = (try call.parameter("device"), try call.parameter("token"))
                let (delay, now) = (try toldAfter(call), core.now())
                return try .done(
                    core.state.withLock { $0.devices.end(token, of: name, toldAfter: delay, at: now) },
                    orMissing: "token of device \(name)"
                )
            },
            Route(.put, "\(device)/apps/{app}", role: nil) { call, body in
                let (name, app) = (try call.parameter("device"), try call.parameter("app"))
                let fields = try await call.fields(&body, ["forceQuit", "badge"])
                let isForceQuit = try fields.bool("forceQuit")
                let badge = try fields.integer("badge", in: 0...Int(Int32.max))
                let isThere = core.state.withLock { state in
                    guard state.devices.devices[name]?.bundleIdentifiers.contains(app) == true else { return false }
                    if let isForceQuit { _ = state.devices.setForceQuit(isForceQuit, app, on: name) }
                    if let badge { _ = state.devices.setBadge(badge, app, on: name) }
                    return true
                }
                return try .done(isThere, orMissing: "app \(app) on device \(name)")
            },
            Route(.delete, "\(device)/apps/{app}/notifications/{notification}", role: nil) { call, _ in
                let (name, app) = (try call.parameter("device"), try call.parameter("app"))
                let identifier = try call.parameter("notification")
                let id = try call.target.parameters(allowed: ["id"])["id"]
                return try .done(
                    core.state.withLock { $0.devices.dismiss(identifier, from: id, of: app, on: name) },
                    orMissing: "such notification of app \(app) on device \(name)"
                )
            },
            Route(.delete, "\(device)/apps/{app}", role: nil) { call, _ in
                let (name, app) = (try call.parameter("device"), try call.parameter("app"))
                let (delay, now) = (try toldAfter(call), core.now())
                return try .done(
                    core.state.withLock { $0.devices.uninstall(app, from: name, toldAfter: delay, at: now) },
                    orMissing: "app \(app) on device \(name)"
                )
            },
        ]
    }

    private func listDevices(_ call: Call) throws -> Response {
        let page = try DevicePage(call)
        let all = core.state.withLock { $0.devices.devices }
        return page.answer(all) { $0.briefJSON }
    }

    /// Makes a device, or changes whether it is online.
    private func putDevice(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let name = try deviceName(call)
        let isOnline = try await call.fields(&body, ["online"]).bool("online")
        let now = core.now()
        try core.state.withLock { state in
            try SimulatorError.answering("device") { () throws(SimulatorError) in try state.devices.add(name) }
            if let isOnline { _ = state.setOnline(isOnline, name, at: now) }
        }
        return Response(status: .noContent)
    }

    private func register(_ token: String, _ call: Call, _ body: inout CallBody) async throws -> Response {
        let name = try deviceName(call)
        let fields = try await call.fields(&body, ["topic", "environment", "activity", "channel"])
        let topic = try fields.required(try fields.text("topic"), "topic")
        let environment = try fields.choice("environment", DeviceRegistration.Environment.self) ?? .production
        let (activity, channel) = (try fields.text("activity"), try fields.text("channel"))
        try core.state.withLock { state in
            try SimulatorError.answering("token") { () throws(SimulatorError) in
                try state.devices.register(
                    token,
                    device: name,
                    topic: topic,
                    environment: environment,
                    activity: activity,
                    channel: channel
                )
            }
        }
        return .json(.object([.init("token", .string(token.lowercased()))]), status: .created)
    }

    private func deviceName(_ call: Call) throws -> String {
        let name = try call.parameter("device")
        guard (1...256).contains(name.utf8.count) else {
            throw ModelError(.invalid, field: "device", "must have 1 to 256 bytes")
        }
        return name
    }

    private func toldAfter(_ call: Call) throws -> Int64 {
        guard let text = try call.target.parameters(allowed: ["toldAfter"])["toldAfter"] else { return 0 }
        guard let seconds = Int64(text), (0...31_536_000).contains(seconds) else {
            throw ModelError(.invalid, field: "toldAfter", "must be seconds from 0 to 31536000")
        }
        return seconds
    }

    // MARK: Keys

    private var keys: [Route] {
        let key = "/v1/keys/{key}"
        return [
            Route(.get, "/v1/keys", role: nil) { _, _ in
                let keys = core.state.withLock { $0.keys }.values.sorted { $0.id < $1.id }
                return .json(.object([.init("keys", .array(keys.map(\.json)))]))
            },
            Route(.put, key, role: nil) { call, body in
                let fields = try await call.fields(&body, ["team", "pem", "environments", "topics", "related"])
                let environments = try fields.texts("environments")?.map { text in
                    guard let environment = DeviceRegistration.Environment(rawValue: text) else {
                        throw ModelError(.invalid, field: "environments", "has production and development")
                    }
                    return environment
                }
                let pem = Array(try fields.required(try fields.text("pem"), "pem").utf8)
                let (id, team) = (try call.parameter("key"), try fields.required(try fields.text("team"), "team"))
                let (topics, related) = (try fields.texts("topics"), try fields.text("related"))
                try SimulatorError.answering("pem") { () throws(SimulatorError) in
                    let key = try ProviderKey(
                        id: id,
                        team: team,
                        pem: pem,
                        environments: Set(environments ?? DeviceRegistration.Environment.allCases),
                        topics: topics.map(Set.init),
                        related: related
                    )
                    try core.state.withLock { state throws(SimulatorError) in try state.add(key) }
                }
                return Response(status: .noContent)
            },
            Route(.delete, key, role: nil) { call, _ in
                let id = try call.parameter("key")
                return try .done(
                    core.state.withLock { $0.keys.removeValue(forKey: id) != nil },
                    orMissing: "key \(id)"
                )
            },
            Route(.post, "\(key)/tokens", role: nil) { call, body in
                let id = try call.parameter("key")
                let issued = try await call.fields(&body, ["issuedAt"]).timestamp("issuedAt") ?? core.now()
                guard let key = core.state.withLock({ $0.keys[id] }) else { throw Problem.missing("key \(id)") }
                let field = try SimulatorError.answering("key") { () throws(SimulatorError) in
                    try key.authorization(issuedAt: issued.rawValue / 1_000)
                }
                return .json(.object([.init("authorization", .string(field))]), status: .created)
            },
        ]
    }

    private var certificates: [Route] {
        [
            Route(.post, "/v1/certificates", role: nil) { call, body in
                let fields = try await call.fields(&body, ["bundleIdentifier"])
                let app = try fields.required(try fields.text("bundleIdentifier"), "bundleIdentifier")
                do {
                    let made = try await core.issue(for: app)
                    let (certificate, key) = (
                        String(decoding: made.certificate, as: UTF8.self), String(decoding: made.key, as: UTF8.self)
                    )
                    return .json(
                        .object([.init("certificate", .string(certificate)), .init("key", .string(key))]),
                        status: .created
                    )
                } catch let error as APNsSimulatorError {
                    throw ModelError(.invalid, field: "bundleIdentifier", error.description)
                }
            }
        ]
    }

    // MARK: Faults

    private var faults: [Route] {
        let setting = FaultRoutes<Fault>(fields: Fault.fields, { try Fault($0) }) { [core] change in
            try core.state.withLock { try change(&$0.faults) }
        }
        return setting.all + [
            Route(.get, "/v1/faults", role: nil) { _, _ in
                let faults = core.state.withLock { $0.faults.named }
                return .json(.object([.init("faults", .array(faults.map { $0.fault.json(named: $0.name) }))]))
            },
            Route(.put, "/v1/rate", role: nil) { call, body in
                let fields = try await call.fields(&body, ["pushes", "seconds"])
                let pushes = try fields.required(try fields.integer("pushes", in: 1...1_000_000), "pushes")
                let seconds = try fields.required(try fields.integer("seconds", in: 1...86_400), "seconds")
                let rate = try SimulatorError.answering("pushes") { () throws(SimulatorError) in
                    try DeviceRegistry.Rate(pushes: pushes, seconds: seconds)
                }
                core.state.withLock { $0.devices.rate = rate }
                return Response(status: .noContent)
            },
            Route(.delete, "/v1/rate", role: nil) { _, _ in
                core.state.withLock { $0.devices.rate = nil }
                return Response(status: .noContent)
            },
            Route(.get, "/v1/behaviour", role: nil) { _, _ in .json(core.state.withLock { $0.behaviour }.json) },
            Route(.put, "/v1/behaviour", role: nil) { call, body in
                let behaviour = try ConnectionBehaviour(try await call.fields(&body, ConnectionBehaviour.fields))
                core.state.withLock { $0.behaviour = behaviour }
                return .json(behaviour.json)
            },
        ]
    }

    // MARK: Connections

    private var connections: [Route] {
        let routes = ConnectionRoutes(core.connections)
        return routes.all + [
            Route(.get, "/v1/connections", role: nil) { _, _ in
                .json(.object([.init("connections", .array(await core.summaries.map(\.json)))]))
            },
            Route(.post, "/v1/connections/{connection}/goaway", role: nil) { call, body in
                let fields = try await call.fields(&body, ["reason", "lastStream"])
                let reason = try fields.choice("reason", APNsReason.self) ?? .shutdown
                let last = try fields.integer("lastStream", in: 0...Int(Int32.max))
                guard last.map(ServerConnections.isStream) ?? true else {
                    throw ModelError(.invalid, field: "lastStream", "must be 0 or odd: the stream of a client")
                }
                return try await routes.on(call) { $0.goAway(reason.json, after: last) }
            },
            Route(.get, "/v1/statistics", role: nil) { _, _ in .json(core.state.withLock { $0.statistics }.json) },
            Route(.delete, "/v1/statistics", role: nil) { _, _ in
                core.state.withLock { $0.statistics = APNsStatistics() }
                return Response(status: .noContent)
            },
        ]
    }
}
