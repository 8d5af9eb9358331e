/// What a service promises of the records that it makes of others.
public enum DeliveryGuarantee: String, Sendable, Hashable, CaseIterable {
    /// None is lost; after a failure some are there twice, under the same ids.
    case atLeastOnce = "at-least-once"
    /// None is lost and none is there twice, for readers with `isolation.level=read_committed`.
    case exactlyOnce = "exactly-once"
}
