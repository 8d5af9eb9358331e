package import NotificationDelivery
package import NotificationModel

/// Enrichment, as an entry knows it: until when it waits for the result, and the result.
extension StateEntry {
    /// The enrichment of a notification that is due.
    package enum Enrichment: Sendable, Hashable {
        /// It is under way; the notification is sent at that instant at the latest.
        case until(Timestamp)
        /// It has ended; the report is a JSON object for the event. Indirect, so that an entry without one stays small.
        indirect case ended(report: ArraySlice<UInt8>)
    }

    /// The enrichment of a notification that is not due yet. Never written: the next owner starts again.
    package enum Preparation: Sendable, Hashable {
        /// It starts at that instant.
        case at(Timestamp)
        /// It is under way, until that instant at the latest.
        case until(Timestamp)
        /// It has ended before the notification is due. Indirect, so that an entry without one stays small.
        indirect case ended(EnrichedContent)
    }
}
