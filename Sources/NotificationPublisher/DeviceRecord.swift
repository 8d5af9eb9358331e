package import Kafka
package import NotificationModel

/// A record on `devices`: a recipient's device as it is registered now.
package struct DeviceRecord: Sendable {
    /// Application, recipient and, as the identifier, the device.
    package let key: NotificationKey
    /// The registration; nil for a device that is gone.
    package let value: [UInt8]?
    /// The trace context of the caller.
    package let headers: [KafkaHeader]

    /// - Parameters:
    ///   - registration: nil for a device that is gone.
    ///   - key: application, recipient and device.
    ///   - trace: of the caller.
    package init(_ registration: DeviceRegistration?, key: NotificationKey, trace: TraceContext? = nil) {
        (self.key, value, headers) = (key, registration?.json, trace?.headers ?? [])
    }
}
