import Hummingbird
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// A recipient's devices: `PUT` and `DELETE` of `/v1/recipients/{recipient}/devices/{device}`, with `?application=`.
///
/// Both say how it is from now on, so repeating them is harmless; an `Idempotency-Key` must be well-formed but has no
/// effect.
struct DevicesHandler: Sendable {
    let broker: BrokerGateway
    let now: @Sendable () -> Timestamp
    /// The time zones that devices may be in.
    let zones: TimeZoneDatabase

    private static let path = "/v1/recipients/{recipient}/devices/{device}"

    var routes: [Route] {
        [
            Route(.put, Self.path, role: .signal, allowsRecipients: true) { call, body in try await put(call, &body) },
            Route(.delete, Self.path, role: .signal, allowsRecipients: true) { call, _ in try await delete(call) },
        ]
    }

    /// Registers a device; it replaces the registration before.
    private func put(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let key = try key(of: call)
        guard call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        var device = try DeviceRegistration(body: try await body.read(upTo: ModelLimits.deviceBytes))
        let time = now()
        try device.check(zones: zones, at: time)
        device.registeredAt = device.registeredAt ?? time
        return .accepted(try await broker.publish(device, key: key, trace: call.request.traceContext))
    }

    /// Removes a device, known or not.
    private func delete(_ call: Call) async throws -> Response {
        let key = try key(of: call)
        return .accepted(try await broker.publish(nil, key: key, trace: call.request.traceContext))
    }

    private func key(of call: Call) throws -> NotificationKey {
        _ = try IdempotencyKey.read(call)
        _ = try call.target.parameters(allowed: ["application"])
        return try .device(
            try call.parameter("device"),
            of: try call.parameter("recipient"),
            in: call.application
        )
    }
}
