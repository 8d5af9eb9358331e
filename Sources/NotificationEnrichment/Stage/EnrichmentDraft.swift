package import NotificationModel
import Synchronization

/// The best attempt of one step. Enrichers update it from any task until the stage closes it; later updates are
/// ignored.
package final class EnrichmentDraft: Sendable {
    /// What the stage would deliver if the time were over now.
    package struct Snapshot: Sendable {
        package var content: NotificationContent
        /// What became of attachments; at most ``EnrichmentReport/maximumAttachments``.
        package var attachments: [AttachmentReport]

        /// A snapshot.
        package init(content: NotificationContent, attachments: [AttachmentReport] = []) {
            (self.content, self.attachments) = (content, attachments)
        }
    }

    private struct State {
        var snapshot: Snapshot
        var isOpen = true
    }

    private let state: Mutex<State>

    /// A draft that begins with the result of the previous step.
    package init(_ snapshot: Snapshot) {
        state = Mutex(State(snapshot: snapshot))
    }

    /// The latest snapshot.
    package var current: Snapshot { state.withLock { $0.snapshot } }

    /// Changes the snapshot as a whole; nothing after the draft is closed.
    package func update(_ change: (inout Snapshot) -> Void) {
        state.withLock { state in
            guard state.isOpen else { return }
            change(&state.snapshot)
        }
    }

    /// Ends the updates.
    func close() -> Snapshot {
        state.withLock { state in
            state.isOpen = false
            return state.snapshot
        }
    }
}
