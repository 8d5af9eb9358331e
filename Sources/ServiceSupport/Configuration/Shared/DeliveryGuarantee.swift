/// The guarantee for the records that a service derives from others.
public enum DeliveryGuarantee: String, Sendable, Hashable, CaseIterable {
    /// No record is lost; after a failure some are repeated with the same ids.
    case atLeastOnce = "at-least-once"
    /// No record is lost or repeated, for readers with `isolation.level=read_committed`.
    case exactlyOnce = "exactly-once"
}
