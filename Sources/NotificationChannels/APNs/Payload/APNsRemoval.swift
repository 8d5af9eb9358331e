package import NotificationDelivery
package import NotificationModel

/// Pushes for notifications that a device shows and that were removed: APNs itself cannot remove them.
package enum APNsRemoval {
    /// A notification that is to be removed.
    package struct Item: Hashable, Sendable {
        package var collapseID: String
        /// Of the removal: a device keeps what has a higher one, which was delivered after it.
        package var sequence: OperationSequence

        package init(key: NotificationKey, sequence: OperationSequence) {
            (collapseID, self.sequence) = (CollapseID(key).text, sequence)
        }
    }

    /// The most items of a push; they fit in any case.
    package static let maximumItems = 40

    /// A push in the background that asks the app to remove notifications: `{"aps":{"content-available":1},"carillon":{"remove":{…}}}`.
    ///
    /// It has no collapse id: it would take the place of what waits at APNs, not of what the device shows. Several removals should
    /// share a push, since a device gets only a few of them an hour.
    ///
    /// - Parameters:
    ///   - items: at most ``maximumItems``; further ones are left out. Of several with one collapse id the last counts.
    ///   - id: of the operation.
    ///   - bundle: the app's bundle identifier.
    package static func request(_ items: some Sequence<Item>, id: UUIDValue, bundle: String) -> APNsPush {
        var latest: [String: OperationSequence] = [:]
        var order: [String] = []
        for item in items where latest.updateValue(item.sequence, forKey: item.collapseID) == nil {
            order.append(item.collapseID)
        }
        let members = order.prefix(maximumItems).map { JSONValue.Member($0, .string(latest[$0]?.text ?? "")) }
        let payload = JSONValue.object([
            .init("aps", .object([.init("content-available", .number("1"))])),
            .init("carillon", .object([.init("remove", .object(members))])),
        ])
        return APNsPush(headers: APNsHeaders(.background, bundle: bundle, id: id), payload: payload.json)
    }

    /// A silent notification that takes the place of the removed one, in the list only.
    ///
    /// - Parameters:
    ///   - text: its body.
    ///   - id: of the operation.
    ///   - origin: of the operation.
    ///   - bundle: the app's bundle identifier.
    package static func overwrite(
        with text: String,
        id: UUIDValue,
        origin: DeviceDelivery.Origin,
        bundle: String
    ) throws(ModelError) -> APNsPush {
        let content = NotificationContent(body: text, interruptionLevel: .passive)
        let delivery = DeviceDelivery(
            id: id,
            collapseID: CollapseID(origin.key).text,
            content: content.json[...],
            presentation: [.list],
            origin: origin
        )
        return try APNsPush(delivery, bundle: bundle)
    }
}
