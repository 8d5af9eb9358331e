extension KafkaError {
    /// Codes of the client and the brokers for a client that another one replaced: it uses the same transactional id or
    /// `group.instance.id`.
    private static let fencing: Set<Int32> = [-144, 47, 82, 90]

    /// Whether another client uses the id now.
    public var isFencing: Bool { Self.fencing.contains(code.rawValue) }

    /// Whether any error is a `KafkaError` that means fencing.
    public static func isFencing(_ error: any Error) -> Bool {
        let found = (error as? KafkaTransactionFailure)?.error ?? error as? KafkaError
        return found?.isFencing ?? false
    }
}
