/// Ids derived from the cause of a request, so that processing the same cause twice gives the same id.
///
/// Each is a UUIDv5 in ``UUIDv5/requestNamespace`` over pieces joined as ``UUIDv5`` describes. The first piece names
/// the kind of cause, so that ids of different kinds never collide.
extension RequestID {
    /// The id of a request that a rule creates from a business event: pieces `event`, source, id, rule, encoded key.
    ///
    /// - Parameters:
    ///   - source: the event's `source`
    ///   - id: the event's `id`
    ///   - rule: the rule's name; several rules may match one event
    ///   - key: the notification's key
    public static func derive(source: String, id: String, rule: String, key: NotificationKey) -> RequestID {
        var hash = NameHash(namespace: UUIDv5.requestNamespace)
        hash.updatePiece("event")
        hash.updatePiece(source)
        hash.updatePiece(id)
        hash.updatePiece(rule)
        key.encoded.withUnsafeBytes { hash.updatePiece($0) }
        return .uuid(hash.finish())
    }

    /// The id of a call with an `Idempotency-Key`: pieces `call`, caller, idempotency key.
    public static func derive(caller: String, idempotencyKey: String) -> RequestID {
        .uuid(UUIDv5.make(namespace: UUIDv5.requestNamespace, pieces: ["call", caller, idempotencyKey]))
    }

    /// The id of a record without one, derived from its position: pieces `record`, topic, partition and offset in
    /// decimal, and the topic's life if it is not the first (0).
    public static func derive(topic: String, partition: Int32, offset: Int64, life: Int64 = 0) -> RequestID {
        var pieces = ["record", topic, String(partition), String(offset)]
        if life > 0 { pieces.append(String(life)) }
        return .uuid(UUIDv5.make(namespace: UUIDv5.requestNamespace, pieces: pieces))
    }
}
