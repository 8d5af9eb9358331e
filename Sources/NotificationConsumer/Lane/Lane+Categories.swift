import NotificationModel
import NotificationState
import ServiceSupport

/// The categories that notifications are delivered with.
extension Lane {
    /// Takes the categories that were set since the last turn.
    func refreshCategories() {
        let version = context.categories.version
        guard version != categoryVersion else { return }
        categoryVersion = version
        categories = CategoryBook(context.categories.snapshot())
        for number in owned.numbers {
            owned[number]?.center.categories = categories
            // A replay would deliver with the new ones: it ends here, and the next cuts take what was delivered with the
            // former.
            guard let requests = owned[number]?.inputs[.requests] else { continue }
            owned[number]?.center.noteUndecided(
                at: .init(.requests, offset: requests.position, life: requests.life)
            )
            owned[number]?.center.inUse.hurry()
        }
    }
}
