/// Enrichment, as an entry knows it: until when it waits for the result, and the result.
extension StateEntry {
    /// The enrichment of a notification that is due.
    public enum Enrichment: Sendable, Hashable {
        /// It is under way; the notification is sent at that instant at the latest.
        case until(Timestamp)
        /// It has ended; the report is a JSON object for the event. Indirect, so that an entry without one stays small.
        indirect case ended(report: ArraySlice<UInt8>)
    }

    /// The enrichment of a notification that is not due yet. Never written: the next owner starts again.
    public enum Preparation: Sendable, Hashable {
        /// It starts at that instant.
        case at(Timestamp)
        /// It is under way, until that instant at the latest.
        case until(Timestamp)
        /// It has ended before the notification is due. Indirect, so that an entry without one stays small.
        indirect case ended(EnrichedContent)
    }
}

/// The result of an enrichment.
public struct EnrichedContent: Sendable, Hashable {
    /// What becomes of the notification.
    public enum Verdict: Sendable, Hashable {
        /// It is sent with this content, a JSON object.
        case modified(ArraySlice<UInt8>)
        /// It is sent as requested.
        case original
        /// It is not sent.
        case withheld
    }

    /// What becomes of the notification.
    public var verdict: Verdict
    /// What happened, a JSON object for the `delivered` event.
    public var report: ArraySlice<UInt8>

    /// A result.
    public init(_ verdict: Verdict, report: ArraySlice<UInt8>) {
        (self.verdict, self.report) = (verdict, report)
    }
}
