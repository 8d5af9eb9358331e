import NotificationDelivery
import NotificationModel
import NotificationState

/// The attempt at an operation, and the id under which it is sent.
extension ChannelSend {
    /// An attempt at an operation, without what the notification adds.
    init(_ operation: ScreenOperation, of key: NotificationKey) {
        let showing = operation.showing ?? operation.removes.last
        self.init(
            id: UUIDValue(high: 0, low: 0),
            key: key,
            kind: .remove,
            channel: operation.channel,
            requestID: showing?.requestID ?? operation.cause ?? .uuid(UUIDValue(high: 0, low: 0)),
            occurrence: showing?.occurrence,
            attempt: operation.attempt,
            sequence: operation.sequence,
            trace: operation.trace,
            closes: false,
            isQuiet: operation.isQuiet,
            cause: operation.cause
        )
    }

    /// The id of the operation: a UUIDv5 of the key, the targets, what they show afterwards and, of a removal, what they may have
    /// shown before. So a repeat has the same one, and what is sent under it never changes.
    func id(of operation: ScreenOperation) -> UUIDValue {
        let former = operation.showing ?? (operation.removes.count == 1 ? operation.removes[0] : nil)
        if let former, former.isFormer { return formerID(of: former, operation) }
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        hash.updatePiece("operation")
        key.encoded.withUnsafeBytes { hash.updatePiece($0) }
        hash.updatePiece(channel.rawValue)
        switch (operation.goal, kind) {
        case (.show(let showing), .deliver(let content)):
            hash.updatePiece("show")
            hash.updatePiece(showing)
            content.withUnsafeBytes { hash.updatePiece($0) }
        default:
            hash.updatePiece("remove")
            for showing in operation.removes.sorted(by: Showing.isBefore) { hash.updatePiece(showing) }
        }
        if let kind = registration?.kind, kind.isOfLiveActivities { hash.updatePiece(kind.rawValue) }
        (devices ?? []).withUnsafeBytes { hash.updatePiece($0) }
        return hash.finish()
    }

    /// The id under which a version whose ids did not contain the key sent the same.
    private func formerID(of showing: Showing, _ operation: ScreenOperation) -> UUIDValue {
        var hash = NameHash(namespace: UUIDv5.eventNamespace)
        let isRemoval = operation.goal == .remove
        if isRemoval { hash.updatePiece("recall") }
        hash.updatePiece(showing.requestID)
        if isRemoval {
            key.encoded.withUnsafeBytes { hash.updatePiece($0) }
            var list: [UInt8] = []
            for device in operation.devices {
                JSONWriter.append(list.isEmpty ? "[{\"device\":" : ",{\"device\":", to: &list)
                JSONWriter.append(string: device, to: &list)
                JSONWriter.append("}", to: &list)
            }
            if !list.isEmpty { JSONWriter.append("]", to: &list) }
            list.withUnsafeBytes { hash.updatePiece($0) }
        } else {
            hash.updatePiece(decimal: showing.occurrence?.rawValue)
            hash.updatePiece(DeliveryEventName.delivered.rawValue)
            hash.updatePiece("")
        }
        return hash.finish()
    }
}

extension NameHash {
    fileprivate mutating func updatePiece(_ showing: Showing) {
        updatePiece(showing.requestID)
        updatePiece(decimal: showing.occurrence?.rawValue)
        updatePiece(decimal: Int64(showing.round))
    }
}

extension Showing {
    /// An order of its own, so that an id does not depend on the order in which doubts arose.
    fileprivate static func isBefore(_ one: Showing, _ other: Showing) -> Bool {
        ("\(one.requestID)", one.occurrence ?? .earliest, one.round)
            < ("\(other.requestID)", other.occurrence ?? .earliest, other.round)
    }
}
