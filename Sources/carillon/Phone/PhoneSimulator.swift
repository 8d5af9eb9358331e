import Logging
import NotificationModel
import PushSimulation
import ServiceLifecycle

/// The phones of one simulator, by its control interface.
struct PhoneSimulator: Sendable {
    /// Phones that are looked at.
    private static let mostPhones = 100
    /// The pause after a failure, and between two looks: what changes within it is told at once.
    private static let (pause, rest) = (Duration.seconds(1), Duration.milliseconds(100))

    let platform: PhoneID.Platform
    /// Of the control interface.
    let client: ServiceClient
    /// The bundle identifier or the package of the app on all phones.
    let app: String
    /// Whose are the devices that the page has not made; nil leaves them out.
    var owner: String?

    private var source: PhoneFeed.Source {
        switch platform {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    // MARK: - What they show

    /// Tells what the phones show, until the task is cancelled.
    func watch(_ feed: PhoneFeed) async {
        var revision: Int64?
        while !Task.isCancelled {
            do {
                let after = revision.map { "\($0)" }
                let answer = try await get("/v1/changes", query: [("after", after)])
                // After a failure all is read again, even if the number is the same.
                if let now = answer["revision"]?.integerValue, now != revision {
                    feed.set(try await phones(), of: platform)
                    revision = now
                }
                feed.set(source, problem: nil)
                try await Task.sleep(for: Self.rest)
            } catch {
                guard !Task.isCancelled else { return }
                revision = nil
                feed.set(source, problem: "\(error)")
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func phones() async throws -> [PhoneState] {
        let list = try await get("/v1/devices", query: [("limit", "\(Self.mostPhones)")])
        var phones: [PhoneState] = []
        for device in list["devices"]?.arrayValue ?? [] {
            guard let name = device["device"]?.stringValue,
                let id = PhoneID(platform, simulated: name, owner: owner)
            else { continue }
            if let phone = PhoneState(id, app: app, try await get(path(id))) { phones.append(phone) }
        }
        return phones
    }

    // MARK: - What is done with them

    /// Makes a phone with the app.
    ///
    /// - Returns: the token of the app.
    func add(_ id: PhoneID) async throws -> String {
        let member: JSONValue.Member =
            switch platform {
            case .apns: .init("topic", .string(app))
            case .fcm: .init("package", .string(app))
            }
        let answer = try await client.call("POST", "\(path(id))/tokens", body: JSONValue.object([member]).json)
        guard let token = (try? JSONValue.parse(answer))?["token"]?.stringValue else {
            throw CommandFailure("the simulator's answer has no token", status: ExitStatus.failed)
        }
        return token
    }

    /// The app is uninstalled.
    func remove(_ id: PhoneID) async throws { _ = try await client.call("DELETE", appPath(id)) }

    /// A notification is taken away.
    func dismiss(_ identifier: String, on id: PhoneID) async throws {
        _ = try await client.call("DELETE", "\(appPath(id))/notifications/\(PercentEncoding.encode(identifier))")
    }

    func setOnline(_ isOnline: Bool, _ id: PhoneID) async throws {
        _ = try await client.call("PUT", path(id), body: JSONValue.object([.init("online", .bool(isOnline))]).json)
    }

    /// The number on the app's icon; Android has none of the app's.
    func setBadge(_ badge: Int, _ id: PhoneID) async throws {
        guard platform == .apns else { return }
        _ = try await client.call("PUT", appPath(id), body: JSONValue.object([.init("badge", .number(badge))]).json)
    }

    private func path(_ id: PhoneID) -> String { "/v1/devices/\(PercentEncoding.encode(id.simulated))" }

    private func appPath(_ id: PhoneID) -> String { "\(path(id))/apps/\(PercentEncoding.encode(app))" }

    private func get(_ path: String, query: [(name: String, value: String?)] = []) async throws -> JSONValue {
        try JSONValue.parse(try await client.call("GET", path, query: query))
    }
}
