package import Hummingbird
package import NotificationModel
package import ServiceHTTP

/// The parameters of a list of devices: `after`, a name, and `limit`.
package struct DevicePage: Sendable {
    private let after: String?
    private let limit: Int

    /// Throws `invalid` for a limit that is not from 1 to 10,000.
    package init(_ call: Call) throws(ModelError) {
        let parameters = try call.target.parameters(allowed: ["after", "limit"])
        guard let limit = parameters["limit"].map({ Int($0) }) ?? 100, (1...10_000).contains(limit) else {
            throw ModelError(.invalid, field: "limit", "must be from 1 to 10000")
        }
        (after, self.limit) = (parameters["after"], limit)
    }

    /// The devices of the page, in the order of their names, and how many there are.
    package func answer<Device>(_ all: [String: Device], _ json: (Device) -> JSONValue) -> Response {
        let names = all.keys.filter { name in after.map { name > $0 } ?? true }.sorted().prefix(limit)
        return .json(
            .object([
                .init("count", .number(all.count)), .init("devices", .array(names.compactMap { all[$0].map(json) })),
            ])
        )
    }
}
