/// All categories of an application: the value of a record of the topic `categories`. An empty set is allowed: it clears.
///
///     {"categories":[{"identifier":"ORDER",…}],"formerActions":["decline"]}
public struct CategorySet: Sendable, Hashable {
    /// The actions that every notification has: opening it, and dismissing it.
    public static let systemActions: Set = [ResponseSignal.defaultAction, ResponseSignal.dismissAction]

    /// In the order in which they were set; at most ``ModelLimits/categories``.
    public let categories: [NotificationCategory]
    /// Actions of sets that this one replaced: a response to a notification that was delivered before is not refused. At
    /// most ``ModelLimits/formerActions``, newest first.
    public private(set) var formerActions: [String]
    /// By the bytes of the identifiers, for the search.
    private let sorted: [NotificationCategory]

    private enum Field: FieldName {
        case categories, formerActions
    }

    /// No categories.
    public init() { (categories, formerActions, sorted) = ([], [], []) }

    /// Reads the value of a record; passes over unknown fields.
    ///
    /// Throws `invalid` with the field (identifiers that are empty or repeat, unknown options, too many of something),
    /// `too-large`, `not-utf8`.
    public init(json: [UInt8]) throws(ModelError) {
        try self.init(json, .record, limit: ModelLimits.categoryRecordBytes)
    }

    /// Reads the body of a call, which has no `formerActions`. Throws as ``init(json:)``, and `unknown-field`.
    public init(body json: [UInt8]) throws(ModelError) {
        try self.init(json, .body, limit: ModelLimits.categoryBodyBytes)
    }

    private init(_ json: [UInt8], _ origin: JSONOrigin, limit: Int) throws(ModelError) {
        self = try JSONScanner.read(json, atMost: limit) { scanner throws(ModelError) in
            try CategorySet(&scanner, origin)
        }
    }

    private init(_ scanner: inout JSONScanner, _ origin: JSONOrigin) throws(ModelError) {
        var categories: [NotificationCategory]?
        var former: [String] = []
        try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
            switch field {
            case .categories: categories = try scanner.categories(from: origin)
            case .formerActions:
                guard origin == .record else { throw scanner.unknownField() }
                former = try scanner.actionIdentifiers(limit: ModelLimits.formerActions)
            }
        }
        self.categories = try scanner.required(categories, Field.categories)
        formerActions = former
        sorted = self.categories.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// The value of a record.
    public var json: [UInt8] { json(with: formerActions) }

    /// What a call shows: the value of a record without ``formerActions``.
    public var bodyJSON: [UInt8] { json(with: []) }

    private func json(with former: [String]) -> [UInt8] {
        var (out, object) = ([UInt8](), JSONObjectWriter())
        object.member(Field.categories, categories, &out)
        object.member(Field.formerActions, former.isEmpty ? nil : former, &out)
        object.end(&out)
        return out
    }
}

extension CategorySet {
    /// The category with this identifier, compared by bytes of UTF-8; nil for an unknown one. Allocates nothing.
    public func category(_ identifier: UnsafeRawBufferPointer) -> NotificationCategory? {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].name.withUnsafeBytes({ $0.lexicographicallyPrecedes(identifier) }) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < sorted.count, sorted[low].name.withUnsafeBytes({ $0.hasSameBytes(as: identifier) }) else {
            return nil
        }
        return sorted[low]
    }

    /// This set with the actions of the set that it replaces, and those of the sets before, as ``formerActions``.
    public func replacing(_ former: CategorySet?) -> CategorySet {
        guard let former else { return self }
        var seen = Set(actions.map { Array($0.utf8) })
        var set = self
        set.formerActions = (Array(former.actions) + former.formerActions).filter {
            seen.insert(Array($0.utf8)).inserted
        }
        set.formerActions.removeLast(max(0, set.formerActions.count - ModelLimits.formerActions))
        return set
    }

    /// Whether a response may name the action: one of any category, now or before, or a system action.
    public func knowsAction(_ identifier: String) -> Bool {
        let isIt = { (known: String) in known.utf8.elementsEqual(identifier.utf8) }
        return Self.systemActions.contains(identifier) || actions.contains(where: isIt)
            || formerActions.contains(where: isIt)
    }

    /// The identifiers of all actions.
    private var actions: some Sequence<String> {
        categories.lazy.flatMap { $0.actions.lazy.map(\.identifier) }
    }
}

extension JSONScanner {
    /// The categories of a set: their identifiers are unique, and those of all of their actions.
    fileprivate mutating func categories(from origin: JSONOrigin) throws(ModelError) -> [NotificationCategory] {
        var categories: [NotificationCategory] = []
        // Bytes: strings that look the same may differ in bytes.
        var (names, actions): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        try array { scanner, index throws(ModelError) in
            guard index < ModelLimits.categories else {
                throw scanner.value("at most \(ModelLimits.categories) categories are allowed")
            }
            let category = try NotificationCategory(&scanner, from: origin)
            guard names.insert(category.name).inserted else {
                throw ModelError(.invalid, field: "identifier", "another category has this identifier")
            }
            for (place, action) in category.actions.enumerated()
            where !actions.insert(Array(action.identifier.utf8)).inserted {
                throw ModelError(
                    .invalid,
                    field: "actions.\(place).identifier",
                    "another action has this identifier: actions are unique across all categories"
                )
            }
            categories.append(category)
        }
        return categories
    }
}
