import Hummingbird
import NotificationModel
package import ServiceHTTP

/// The call that waits until something about the devices has changed, which all simulators have: for those who show what
/// devices show.
package struct ChangeRoutes: Sendable {
    /// How long a call waits.
    private static let patience = Duration.seconds(5)
    /// How often the number is looked at meanwhile.
    private static let glance = Duration.milliseconds(25)

    private let revision: @Sendable () -> Int

    /// - Parameter revision: a number that is another one after each change.
    package init(_ revision: @escaping @Sendable () -> Int) { self.revision = revision }

    /// `GET /v1/changes?after=N` answers `{"revision":M}` once the number is not N, at the latest after five seconds.
    package var all: [Route] {
        [
            Route(.get, "/v1/changes", role: nil) { call, _ in
                let after = try call.target.parameters(allowed: ["after"])["after"]
                guard let known = after.map({ Int($0) }) ?? -1 else {
                    throw ModelError(.invalid, field: "after", "must be the number of the answer before")
                }
                return .json(.object([.init("revision", .number(try await changed(from: known)))]))
            }
        ]
    }

    private func changed(from known: Int) async throws -> Int {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let now = revision()
            if now != known || ContinuousClock.now >= deadline { return now }
            try await Task.sleep(for: Self.glance)
        }
    }
}
