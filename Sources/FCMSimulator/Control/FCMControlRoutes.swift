import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import NotificationModel
import PushSimulation
import ServiceHTTP
import Synchronization

/// The token service, and the calls of the control interface.
struct FCMControlRoutes: Sendable {
    let core: FCMSimulatorCore
    /// Where key files are written.
    let directory: String

    /// Bytes of an assertion's form.
    private static let formBytes = 16 << 10

    var all: [Route] {
        [token] + devices + faults + ConnectionRoutes(core.connections).all + accounts
            + ChangeRoutes { core.state.withLock { $0.devices.revision } }.all
    }

    // MARK: Access tokens

    private var token: Route {
        Route(.post, "/token", role: nil) { _, body in
            let form = try await body.read(upTo: Self.formBytes)
            let now = core.now()
            return core.state.withLock { state in
                do throws(TokenService.Refusal) {
                    let token = try state.tokenService.exchange(form, at: now, using: &state.generator)
                    state.statistics.accessTokens += 1
                    return .json(
                        .object([
                            .init("access_token", .string(token)),
                            .init("expires_in", .number(state.tokenService.lifetime)),
                            .init("token_type", .string("Bearer")),
                        ])
                    )
                } catch {
                    return .json(
                        .object([
                            .init("error", .string(error.error)),
                            .init("error_description", .string(error.description)),
                        ]),
                        status: .badRequest
                    )
                }
            }
        }
    }

    /// Makes a service account of a project.
    ///
    /// - Returns: Its key file.
    func makeAccount(_ project: String) async throws -> String {
        guard (1...64).contains(project.utf8.count),
            project.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D: true
                default: false
                }
            })
        else { throw SimulatorError("a project has 1 to 64 small letters, digits and '-'") }
        let url = core.state.withLock { $0.tokenService.url }
        let file = "\(directory)/service-account-\(project).json"
        let account = try await NIOThreadPool.singleton.runIfActive {
            let account = SimulatedAccount(project: project, keyID: "simulated-2", key: try RSAKeyPair.generate())
            try SimulatorFiles.write(try account.json(tokenURL: url), to: file, isSecret: true)
            return account
        }
        core.state.withLock { $0.tokenService.add(account) }
        return file
    }

    private var accounts: [Route] {
        [
            Route(.post, "/v1/accounts", role: nil) { call, body in
                let fields = try await call.fields(&body, ["project"])
                let project = try fields.required(try fields.text("project"), "project")
                do {
                    return .json(
                        .object([.init("file", .string(try await makeAccount(project)))]),
                        status: .created
                    )
                } catch let error as SimulatorError {
                    throw ModelError(.invalid, field: "project", error.description)
                }
            },
            Route(.put, "/v1/accounts/{project}", role: nil) { call, body in
                let project = try call.parameter("project")
                let fields = try await call.fields(&body, ["disabled"])
                let isDisabled = try fields.required(try fields.bool("disabled"), "disabled")
                return try .done(
                    core.state.withLock { $0.tokenService.setDisabled(isDisabled, project: project) },
                    orMissing: "account of \(project)"
                )
            },
            Route(.delete, "/v1/access-tokens", role: nil) { _, _ in
                core.state.withLock { $0.tokenService.endTokens() }
                return Response(status: .noContent)
            },
            Route(.get, "/v1/statistics", role: nil) { _, _ in .json(core.state.withLock { $0.statistics }.json) },
            Route(.get, "/v1/connections", role: nil) { _, _ in
                .json(.object([.init("connections", .array(core.connections.numbers.map(JSONValue.number)))]))
            },
        ]
    }

    // MARK: Devices

    private var devices: [Route] {
        let device = "/v1/devices/{device}"
        return [
            Route(.get, "/v1/devices", role: nil) { call, _ in
                let page = try DevicePage(call)
                let all = core.state.withLock { $0.devices.devices }
                return page.answer(all) { $0.briefJSON }
            },
            Route(.get, device, role: nil) { call, _ in
                let name = try call.parameter("device")
                let json = core.state.withLock { state in
                    state.devices.devices[name].map { $0.json(tokens: state.devices.tokens(of: name)) }
                }
                return try .json(json, orMissing: "device \(name)")
            },
            Route(.put, device, role: nil) { call, body in
                let name = try call.parameter("device")
                let fields = try await call.fields(&body, ["online"])
                let (isOnline, now) = (try fields.required(try fields.bool("online"), "online"), core.now())
                return try .done(
                    core.state.withLock { $0.devices.setOnline(isOnline, name, at: now) },
                    orMissing: "device \(name)"
                )
            },
            Route(.get, "\(device)/messages", role: nil) { call, _ in
                let name = try call.parameter("device")
                let received = core.state.withLock { $0.devices.devices[name]?.received }
                let json = received.map { JSONValue.object([.init("messages", .array($0.map(\.json)))]) }
                return try .json(json, orMissing: "device \(name)")
            },
            Route(.post, "\(device)/tokens", role: nil) { call, body in
                let name = try call.parameter("device")
                guard (1...256).contains(name.utf8.count) else {
                    throw ModelError(.invalid, field: "device", "must have 1 to 256 bytes")
                }
                let fields = try await call.fields(&body, ["package", "project", "token"])
                let package = try fields.required(try fields.text("package"), "package")
                let (project, given) = (try fields.text("project"), try fields.text("token"))
                let token = try core.state.withLock { state in
                    let token = given ?? Self.token(using: &state.generator)
                    try SimulatorError.answering("token") { () throws(SimulatorError) in
                        try state.devices.register(
                            token,
                            device: name,
                            package: package,
                            project: project ?? core.project
                        )
                    }
                    return token
                }
                return .json(.object([.init("token", .string(token))]), status: .created)
            },
            Route(.delete, "\(device)/apps/{app}/notifications/{notification}", role: nil) { call, _ in
                let (name, app) = (try call.parameter("device"), try call.parameter("app"))
                let tag = try call.parameter("notification")
                return try .done(
                    core.state.withLock { $0.devices.dismiss(tag, of: app, on: name) },
                    orMissing: "such notification of app \(app) on device \(name)"
                )
            },
            Route(.delete, "\(device)/apps/{app}", role: nil) { call, _ in
                let (name, app) = (try call.parameter("device"), try call.parameter("app"))
                return try .done(
                    core.state.withLock { $0.devices.uninstall(app, from: name) },
                    orMissing: "app \(app) on device \(name)"
                )
            },
        ]
    }

    /// As FCM's: an installation id, a colon, and more.
    private static func token(using generator: inout SplitMix64) -> String {
        let numbers = (0..<8).map { _ in String(generator.next(), radix: 36) }
        return "\(numbers[0]):APA91b\(numbers[1...].joined())"
    }

    // MARK: Faults

    private var faults: [Route] {
        let setting = FaultRoutes<FCMFault>(fields: FCMFault.fields, { try FCMFault($0) }) { [core] change in
            try core.state.withLock { try change(&$0.faults) }
        }
        return setting.all + [
            Route(.get, "/v1/faults", role: nil) { _, _ in
                let names = core.state.withLock { $0.faults.named.map(\.name) }
                return .json(.object([.init("faults", .array(names.map(JSONValue.string)))]))
            },
            Route(.put, "/v1/quotas", role: nil) { call, body in
                let fields = try await call.fields(&body, ["project", "device"])
                let project = try fields.required(try fields.integer("project", in: 1...100_000_000), "project")
                let device = try fields.required(try fields.integer("device", in: 1...100_000_000), "device")
                core.state.withLock { $0.quotas = (project, device) }
                return Response(status: .noContent)
            },
        ]
    }
}

extension AndroidDevice {
    fileprivate var briefJSON: JSONValue {
        .object([
            .init("device", .string(name)), .init("online", .bool(isOnline)),
            .init("received", .number(received.count)), .init("dropped", .number(droppedCount)),
            .init("shown", .number(packages.reduce(0) { $0 + shown(by: $1).count })),
        ])
    }

    fileprivate func json(tokens: [String]) -> JSONValue {
        .object([
            .init("device", .string(name)), .init("online", .bool(isOnline)),
            .init(
                "apps",
                .array(
                    packages.map { app in
                        .object([.init("package", .string(app)), .init("shown", .array(shown(by: app).map(\.json)))])
                    }
                )
            ),
            .init("tokens", .array(tokens.map(JSONValue.string))), .init("received", .number(received.count)),
            .init("stored", .number(storedCount)), .init("dropped", .number(droppedCount)),
        ])
    }
}

extension AndroidDevice.Shown {
    fileprivate var json: JSONValue {
        .object(of: [
            ("tag", .string(tag)), ("title", title.map(JSONValue.string)), ("body", body.map(JSONValue.string)),
            ("content", JSONValue(payload: content)), ("carillon", origin.map(JSONValue.init(payload:))),
        ])
    }
}

extension AndroidDevice.Received {
    fileprivate var json: JSONValue {
        .object([
            .init("message", JSONValue(payload: message)), .init("package", .string(package)),
            .init("highPriority", .bool(isHighPriority)), .init("receivedAt", .string(receivedAt.rfc3339)),
        ])
    }
}

extension FCMStatistics {
    fileprivate var json: JSONValue {
        .object([
            .init("requests", .number(requests)), .init("accepted", .number(accepted)),
            .init("refused", .object(refused.sorted { $0.key < $1.key }.map { .init($0.key, .number($0.value)) })),
            .init("unanswered", .number(unanswered)), .init("goAways", .number(goAways)),
            .init("connections", .number(connections)), .init("accessTokens", .number(accessTokens)),
        ])
    }
}
