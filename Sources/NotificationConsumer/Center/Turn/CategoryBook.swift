import NotificationModel

/// The categories of all applications at one time. A class, so that every turn can have it.
final class CategoryBook: Sendable {
    /// Without any.
    static let empty = CategoryBook([:])

    private struct Page: Sendable {
        /// As keys begin with it.
        let application: [UInt8]
        let set: CategorySet
    }

    // Few deployments have more than a handful of applications.
    private let pages: [Page]

    init(_ sets: [ExactText: CategorySet]) {
        pages = sets.map { application, set in
            var bytes: [UInt8] = []
            PercentEncoding.encode(application.text.utf8, to: &bytes)
            return Page(application: bytes + [UInt8(ascii: "/")], set: set)
        }
    }

    /// The category that a content names in the application of a key; nil when there is none.
    func category(of facts: ContentFacts, in content: ArraySlice<UInt8>, for key: NotificationKey)
        -> NotificationCategory?
    {
        guard !pages.isEmpty, let category = facts.category else { return nil }
        for page in pages where key.encoded.starts(with: page.application) {
            return category.withBytes(in: content) { page.set.category($0) }
        }
        return nil
    }
}
