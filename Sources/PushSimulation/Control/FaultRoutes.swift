import Hummingbird
import NotificationModel
package import ServiceHTTP

/// The calls that set and clear faults, which all simulators have.
package struct FaultRoutes<Fault: SimulatedFault>: Sendable {
    /// Changes the faults in force, and returns what the change returns.
    package typealias Change = @Sendable ((inout NamedFaults<Fault>) throws -> Bool) throws -> Bool

    private let fields: [String]
    private let read: @Sendable (BodyFields) throws -> Fault
    private let change: Change

    /// - Parameters:
    ///   - fields: that a fault may have.
    ///   - read: reads one.
    package init(
        fields: [String],
        _ read: @escaping @Sendable (BodyFields) throws -> Fault,
        _ change: @escaping Change
    ) {
        (self.fields, self.read, self.change) = (fields, read, change)
    }

    /// Sets a fault, clears one, and clears all.
    package var all: [Route] {
        let fault = "/v1/faults/{fault}"
        return [
            Route(.delete, "/v1/faults", role: nil) { _, _ in
                _ = try change { faults in
                    faults.clear()
                    return true
                }
                return Response(status: .noContent)
            },
            Route(.put, fault, role: nil) { call, body in
                let name = try call.parameter("fault")
                let fault = try read(try await call.fields(&body, fields))
                _ = try change { faults in
                    try SimulatorError.answering("fault") { () throws(SimulatorError) in try faults.set(name, fault) }
                    return true
                }
                return Response(status: .noContent)
            },
            Route(.delete, fault, role: nil) { call, _ in
                let name = try call.parameter("fault")
                return try .done(try change { $0.clear(name) }, orMissing: "fault \(name)")
            },
        ]
    }
}
