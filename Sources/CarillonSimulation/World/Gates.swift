/// What waits for a cure on the way.
enum Gates {
    /// Transactions are bounded by what the broker takes.
    static let slowBroker = false
}
