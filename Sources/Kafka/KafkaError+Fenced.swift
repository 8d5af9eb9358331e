extension KafkaError {
    /// Codes of the client and the brokers for one that another took the place of: the producer's transactional id, or the
    /// member's `group.instance.id`.
    private static let fencing: Set<Int32> = [-144, 47, 82, 90]

    /// Another client has the id.
    public var isFencing: Bool { Self.fencing.contains(code.rawValue) }

    /// Whether an error that a client's owner met says that another client has its id.
    public static func isFencing(_ error: any Error) -> Bool {
        let found = (error as? KafkaTransactionFailure)?.error ?? error as? KafkaError
        return found?.isFencing ?? false
    }
}
