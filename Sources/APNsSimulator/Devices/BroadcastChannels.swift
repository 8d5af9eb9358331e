import Foundation
import NotificationModel

/// The channels over which one push reaches all Live Activities that subscribe.
struct BroadcastChannels: Sendable {
    /// Of an app in an environment (`CannotCreateChannelConfig`).
    static let perApp = 10_000
    /// Bytes of a broadcast's payload.
    static let payloadBytes = 5_120
    private static let identifierBytes = 16

    struct Channel: Sendable, Hashable {
        /// 0: nothing is stored; 1: the newest message is.
        var storagePolicy: Int
    }

    private struct App: Hashable {
        var bundleIdentifier: String
        var environment: DeviceRegistration.Environment
    }

    private var channels: [App: [String: Channel]] = [:]

    /// - Parameter body: `{"message-storage-policy":1,"push-type":"LiveActivity"}`.
    /// - Returns: The channel's id.
    mutating func create(
        _ bundleIdentifier: String,
        _ environment: DeviceRegistration.Environment,
        body: UnsafeRawBufferPointer,
        using generator: inout some RandomNumberGenerator
    ) throws(Refusal) -> String {
        guard let value = try? JSONValue.parse(body, maximumDepth: 4) else { throw Refusal(.payloadEmpty) }
        guard let type = value["push-type"]?.stringValue else { throw Refusal(.missingPushType) }
        guard type.lowercased() == PushType.liveactivity.rawValue else { throw Refusal(.invalidPushType) }
        let policy = value["message-storage-policy"]?.integerValue ?? 0
        let app = App(bundleIdentifier: bundleIdentifier, environment: environment)
        guard (0...1).contains(policy), channels[app]?.count ?? 0 < Self.perApp else {
            throw Refusal(.cannotCreateChannelConfig)
        }
        let bytes = (0..<Self.identifierBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let id = Data(bytes).base64EncodedString()
        channels[app, default: [:]][id] = Channel(storagePolicy: Int(policy))
        return id
    }

    func channel(
        _ id: String?,
        _ bundleIdentifier: String,
        _ environment: DeviceRegistration.Environment
    ) throws(Refusal) -> (id: String, channel: Channel) {
        guard let id else { throw Refusal(.missingChannelID) }
        guard id.utf8.count <= 64, Data(base64Encoded: id) != nil else { throw Refusal(.badChannelID) }
        let app = App(bundleIdentifier: bundleIdentifier, environment: environment)
        guard let channel = channels[app]?[id] else { throw Refusal(.channelNotRegistered) }
        return (id, channel)
    }

    mutating func delete(
        _ id: String?,
        _ bundleIdentifier: String,
        _ environment: DeviceRegistration.Environment
    ) throws(Refusal) {
        let found = try channel(id, bundleIdentifier, environment).id
        channels[App(bundleIdentifier: bundleIdentifier, environment: environment)]?[found] = nil
    }

    func list(_ bundleIdentifier: String, _ environment: DeviceRegistration.Environment) -> [String] {
        channels[App(bundleIdentifier: bundleIdentifier, environment: environment)]?.keys.sorted() ?? []
    }
}

extension BroadcastChannels.Channel {
    /// The answer of APNs to a question.
    var json: JSONValue {
        .object([
            .init("message-storage-policy", .number("\(storagePolicy)")), .init("push-type", .string("LiveActivity")),
        ])
    }
}
