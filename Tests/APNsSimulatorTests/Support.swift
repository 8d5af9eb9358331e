import Foundation
import NotificationModel
import PushSimulation
import Testing

@testable import APNsSimulator

/// A simulator as a value: one key, one device with one app, one connection.
struct Desk {
    static let topic = "com.example.shop"
    static let token = String(repeating: "ab", count: 32)
    static let alert = #"{"aps":{"alert":{"title":"On its way"},"badge":3}}"#
    static let id = "123e4567-e89b-12d3-a456-426614174000"

    var state = SimulatorState(seed: 1)
    var connection = ConnectionState(number: 1, environment: .production, behaviour: ConnectionBehaviour())
    var now = Timestamp(rawValue: 1_795_000_000_000)
    var authorization: String

    init() throws {
        let key = try Self.key("KEY1")
        try state.add(key)
        authorization = try key.authorization(issuedAt: 1_795_000_000)
        try register(Self.token)
    }

    static func key(
        _ id: String,
        team: String = "TEAM1",
        environments: Set<DeviceRegistration.Environment> = [.production, .development],
        topics: Set<String>? = nil,
        related: String? = nil
    ) throws -> ProviderKey {
        try ProviderKey(
            id: id,
            team: team,
            pem: P256PrivateKey.generate().pem(),
            environments: environments,
            topics: topics,
            related: related
        )
    }

    mutating func register(_ token: String, topic: String = topic, device: String = "phone", activity: String? = nil)
        throws
    {
        try state.devices.register(
            token,
            device: device,
            topic: topic,
            environment: .production,
            activity: activity
        )
    }

    /// Another connection of the same provider.
    mutating func reconnect(_ environment: DeviceRegistration.Environment = .production) {
        connection = ConnectionState(number: 2, environment: environment, behaviour: state.behaviour)
    }

    mutating func pass(_ duration: Duration) { now = Timestamp(rawValue: now.rawValue + duration.milliseconds) }

    mutating func send(
        to token: String = token,
        _ payload: String = alert,
        _ change: (inout RequestHeaders) -> Void = { _ in }
    ) -> Outcome {
        var headers = RequestHeaders([
            (":method", "POST"), (":path", "/3/device/\(token)"), ("authorization", authorization),
            ("apns-topic", Self.topic), ("apns-push-type", "alert"), ("apns-id", Self.id),
        ])
        change(&headers)
        let now = now
        return Array(payload.utf8).withUnsafeBytes {
            state.respond(to: headers, body: $0, on: &connection, at: now)
        }
    }

    /// The answer to a push; nil when there is none.
    mutating func push(
        to token: String = token,
        _ payload: String = alert,
        _ change: (inout RequestHeaders) -> Void = { _ in }
    ) -> Answer? {
        guard case .answer(let answer) = send(to: token, payload, change).action else { return nil }
        return answer
    }

    /// The reason of the answer; `200` when the push was accepted, `-` without an answer.
    mutating func said(
        to token: String = token,
        _ payload: String = alert,
        _ change: (inout RequestHeaders) -> Void = { _ in }
    ) -> String {
        guard let answer = push(to: token, payload, change) else { return "-" }
        return answer.reason ?? "\(answer.status)"
    }

    var phone: SimulatedDevice? { state.devices.devices["phone"] }

    /// Identifiers of what the app shows.
    var shown: [String] { phone?.shown(by: Self.topic).map(\.identifier) ?? [] }

    var lastEffect: ReceivedPush.Effect? { phone?.pushes.last?.effect }
}

extension Duration {
    var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
}

/// A folder of a test's own.
struct TestFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("apns-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
