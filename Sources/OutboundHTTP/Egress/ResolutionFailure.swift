/// Why a host has no addresses.
///
/// May be logged: it names the host and what the system says about it.
package struct ResolutionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: String, CaseIterable, Sendable {
        /// The host has no address, or its look-up failed.
        case unresolved
        /// The look-up took too long.
        case timedOut = "timed-out"
        /// Too many look-ups of the application wait.
        case overloaded
        /// The task was cancelled.
        case cancelled
    }

    package let reason: Reason
    /// What is wrong, a sentence without a full stop.
    package let detail: String

    init(_ reason: Reason, _ detail: String) { (self.reason, self.detail) = (reason, detail) }

    package var description: String { "\(reason.rawValue): \(detail)" }
}
