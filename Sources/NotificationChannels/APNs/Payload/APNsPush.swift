package import NotificationModel

/// A push as APNs gets it, but for token and credentials.
package struct APNsPush: Hashable, Sendable {
    package var headers: APNsHeaders
    /// The body: JSON.
    package var payload: [UInt8]
    /// What the payload lacks of what was asked for.
    package var changes: [PayloadChange] = []
    /// Of its content; nil without one.
    package var level: InterruptionLevel?

    package init(
        headers: APNsHeaders,
        payload: [UInt8],
        changes: [PayloadChange] = [],
        level: InterruptionLevel? = nil
    ) {
        (self.headers, self.payload, self.changes, self.level) = (headers, payload, changes, level)
    }

    /// A notification for a device.
    ///
    /// Throws `payload-too-large` when it does not fit in spite of the policy, and `invalid` for JSON that is no content.
    ///
    /// - Parameters:
    ///   - delivery: what the device is given.
    ///   - pushType: nil for `alert`, or `background` when nothing is shown, played or counted.
    ///   - bundle: the app's bundle identifier.
    ///   - policy: for a payload that is too large.
    package init(
        _ delivery: DeviceDelivery,
        as pushType: APNsPushType? = nil,
        bundle: String,
        oversize policy: OversizePolicy = .standard
    ) throws(ModelError) {
        self = try delivery.content.borrowed { bytes throws(ModelError) in
            // An enriched content may be nested deeper than a request.
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            let parts = try scanner.whole { scanner throws(ModelError) in
                try ContentParts(&scanner, localization: delivery.localization)
            }
            let writer = APNsPayloadWriter(scanner, parts, delivery, pushType)
            let (payload, changes) = try writer.payload(policy)
            var headers = APNsHeaders(writer.pushType, bundle: bundle, id: delivery.id)
            if writer.pushType == .alert, !writer.isUrgent { headers.priority = .saving }
            headers.expiration = delivery.expiration.map(APNsHeaders.expiration)
            headers.collapseID = delivery.collapseID
            return APNsPush(headers: headers, payload: payload, changes: changes, level: parts.interruptionLevel)
        }
    }
}
