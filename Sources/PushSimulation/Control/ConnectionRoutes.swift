package import Hummingbird
package import ServiceHTTP

/// The calls about connections, which all simulators have.
package struct ConnectionRoutes: Sendable {
    private let connections: ServerConnections

    package init(_ connections: ServerConnections) { self.connections = connections }

    /// Cuts, freezes and thaws a connection.
    package var all: [Route] {
        let connection = "/v1/connections/{connection}"
        return [
            Route(.delete, connection, role: nil) { call, _ in try await on(call) { $0.cut() } },
            Route(.post, "\(connection)/freeze", role: nil) { call, _ in try await on(call) { $0.setFrozen(true) } },
            Route(.post, "\(connection)/thaw", role: nil) { call, _ in try await on(call) { $0.setFrozen(false) } },
        ]
    }

    /// Does something with the connection that a call names.
    package func on(
        _ call: Call,
        _ body: @escaping @Sendable (HTTP2ServerHandler) -> Void
    ) async throws -> Response {
        let text = try call.parameter("connection")
        guard let number = Int(text), await connections.on(number, body) != nil else {
            throw Problem.missing("connection \(text)")
        }
        return Response(status: .noContent)
    }
}
