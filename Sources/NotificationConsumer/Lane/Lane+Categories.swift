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

    /// Counts the notifications that were delivered plainly because their category is not known.
    func countUnknownCategories(of number: Int32) {
        guard let count = owned[number]?.center.unknownCategories, count > 0 else { return }
        owned[number]?.center.unknownCategories = 0
        context.metrics.count(unknownCategories: count)
    }

    /// A digest is a request of its own, which the service makes.
    func countDigests(of number: Int32) {
        guard let count = owned[number]?.center.begunDigests, count > 0 else { return }
        owned[number]?.center.begunDigests = 0
        context.metrics.count(requested: count)
    }
}
