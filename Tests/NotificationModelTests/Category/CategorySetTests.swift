import NotificationModel
import Testing

@Suite("Sets of categories")
struct CategorySetTests {
    private static let order = """
        {"categories":[{"identifier":"ORDER","options":["customDismissAction"],"actions":[\
        {"identifier":"track","title":"Track","options":["foreground"]},\
        {"identifier":"reply","title":"Reply","textInput":{"buttonTitle":"Send","placeholder":"Your message"}}],\
        "presentation":["banner","list","sound"]}]}
        """

    private func find(_ identifier: String, in set: CategorySet) -> NotificationCategory? {
        bytes(identifier).withUnsafeBytes(set.category)
    }

    private func set(_ categories: [(String, [String])]) throws -> CategorySet {
        let list = categories.map { category, actions in
            let actions = actions.map { #"{"identifier":"\#($0)","title":"T"}"# }.joined(separator: ",")
            return #"{"identifier":"\#(category)","actions":[\#(actions)]}"#
        }
        return try CategorySet(body: bytes(#"{"categories":[\#(list.joined(separator: ","))]}"#))
    }

    @Test("the contract's example has the fields of UNNotificationCategory")
    func example() throws {
        let set = try CategorySet(body: bytes(Self.order))
        let category = try #require(find("ORDER", in: set))
        #expect(category.options == .customDismissAction && category.response == .forward)
        #expect(category.presentation == .options([.banner, .list, .sound]))
        #expect(category.actions.map(\.identifier) == ["track", "reply"])
        #expect(category.actions[0].options == .foreground && category.actions[0].textInput == nil)
        #expect(category.actions[1].textInput?.buttonTitle == "Send")
        #expect(category.actions[1].textInput?.placeholder == "Your message")
        #expect(category.intentIdentifiers.isEmpty && category.hiddenPreviewsBodyPlaceholder == nil)
    }

    @Test(
        "options have the bits of UserNotifications",
        arguments: [
            ("authenticationRequired", 1), ("destructive", 2), ("foreground", 4),
        ] as [(String, UInt8)]
    )
    func actionBits(_ name: String, _ bit: UInt8) throws {
        let json =
            #"{"categories":[{"identifier":"A","actions":[{"identifier":"a","title":"T","options":["\#(name)"]}]}]}"#
        #expect(try CategorySet(body: bytes(json)).categories[0].actions[0].options.rawValue == bit)
    }

    @Test(
        "options of categories have the bits of UserNotifications",
        arguments: [
            ("customDismissAction", 1), ("allowInCarPlay", 2), ("hiddenPreviewsShowTitle", 4),
            ("hiddenPreviewsShowSubtitle", 8), ("allowAnnouncement", 16),
        ] as [(String, UInt8)]
    )
    func categoryBits(_ name: String, _ bit: UInt8) throws {
        let json = #"{"categories":[{"identifier":"A","options":["\#(name)"]}]}"#
        #expect(try CategorySet(body: bytes(json)).categories[0].options.rawValue == bit)
    }

    @Test("a set is written as it was read, members at their default left out")
    func written() throws {
        let set = try CategorySet(body: bytes(Self.order))
        let canonical = """
            {"categories":[{"identifier":"ORDER","actions":[\
            {"identifier":"track","title":"Track","options":["foreground"]},\
            {"identifier":"reply","title":"Reply","textInput":{"buttonTitle":"Send","placeholder":"Your message"}}],\
            "options":["customDismissAction"],"presentation":["banner","list","sound"]}]}
            """
        #expect(text(set.json) == canonical)
        let actions = try #require(try JSONValue.parse(set.json).value(at: "categories.0.actions"))
        #expect(try JSONValue.parse(set.categories[0].actionsJSON) == actions)
        #expect(
            text(try CategorySet(body: bytes(#"{"categories":[{"identifier":"A"}]}"#)).categories[0].actionsJSON)
                == "[]"
        )
    }

    @Test(
        "an unknown member is refused in a call, wherever it is, and passed over in a record",
        arguments: [
            (#"{"categories":[],"future":1}"#, "future"),
            (#"{"categories":[{"identifier":"A","future":1}]}"#, "categories.0.future"),
            (
                #"{"categories":[{"identifier":"A","actions":[{"identifier":"a","title":"T","future":1}]}]}"#,
                "categories.0.actions.0.future"
            ),
            (
                #"{"categories":[{"identifier":"A","actions":[{"identifier":"a","title":"T","textInput":{"future":1}}]}]}"#,
                "categories.0.actions.0.textInput.future"
            ),
        ]
    )
    func unknownMembers(_ json: String, _ field: String) throws {
        let error = failure { () throws(ModelError) in try CategorySet(body: bytes(json)) }
        #expect(error?.reason == .unknownField && error?.field == field)
        _ = try CategorySet(json: bytes(json))
    }

    @Test("a call cannot set the actions of earlier sets")
    func formerActionsOfBody() throws {
        let json = bytes(#"{"categories":[],"formerActions":["a"]}"#)
        let error = failure { () throws(ModelError) in try CategorySet(body: json) }
        #expect(error?.reason == .unknownField && error?.field == "formerActions")
        #expect(try CategorySet(json: json).formerActions == ["a"])
    }

    @Test("identifiers that look the same and differ in bytes are different categories and actions")
    func normalisation() throws {
        let set = try set([("\u{E9}", ["\u{E9}"]), ("e\u{301}", ["e\u{301}"])])
        #expect(set.categories.count == 2)
        #expect(find("\u{E9}", in: set)?.actions.map { bytes($0.identifier) } == [bytes("\u{E9}")])
        #expect(find("e\u{301}", in: set)?.actions.map { bytes($0.identifier) } == [bytes("e\u{301}")])
        let one = try self.set([("A", ["\u{E9}"])])
        #expect(one.knowsAction("\u{E9}") && !one.knowsAction("e\u{301}"))
        #expect(one.categories[0].kept.action("e\u{301}") == nil)
    }

    @Test("every category of a full set is found, and no other")
    func lookUp() throws {
        let names = (0..<ModelLimits.categories).map { "C\($0)" }
        let set = try set(names.map { ($0, []) })
        for name in names { #expect(find(name, in: set)?.identifier == name) }
        for name in ["", "C", "C256", "c1", "C1 ", "D", "\u{0}", "\u{FFFF}"] { #expect(find(name, in: set) == nil) }
        #expect(find("A", in: CategorySet()) == nil)
    }

    @Test("257 categories are one too many")
    func tooManyCategories() throws {
        let list = (0...ModelLimits.categories).map { #"{"identifier":"C\#($0)"}"# }.joined(separator: ",")
        let error = failure { () throws(ModelError) in try CategorySet(body: bytes(#"{"categories":[\#(list)]}"#)) }
        #expect(error?.reason == .invalid && error?.field == "categories.256")
    }

    @Test("a body that is too large is refused without a scan")
    func tooLarge() {
        let json = bytes(#"{"categories":[]}"#) + Array(repeating: 0x20, count: ModelLimits.categoryBodyBytes)
        let error = failure { () throws(ModelError) in try CategorySet(body: json) }
        #expect(error?.reason == .tooLarge)
    }

    @Test("an empty set clears, and remembers the actions of the one before")
    func cleared() throws {
        let former = try set([("A", ["a", "b"]), ("B", ["c"])])
        let empty = try CategorySet(body: bytes(#"{"categories":[]}"#)).replacing(former)
        #expect(empty.categories.isEmpty && empty.formerActions == ["a", "b", "c"])
        #expect(try CategorySet(json: empty.json) == empty)
        #expect(text(empty.bodyJSON) == #"{"categories":[]}"#)
    }

    @Test("the actions of earlier sets are known, the newest first, and none twice")
    func replaced() throws {
        let first = try set([("A", ["a", "b"])])
        let second = try set([("A", ["b", "c"])]).replacing(first)
        let third = try set([("A", ["d"])]).replacing(second)
        #expect(second.formerActions == ["a"])
        #expect(third.formerActions == ["b", "c", "a"])
        for action in ["a", "b", "c", "d", "default", "dismiss"] { #expect(third.knowsAction(action)) }
        for action in ["", "e", "Default"] { #expect(!third.knowsAction(action)) }
        // An action that comes back is no former one.
        #expect(try set([("A", ["a"])]).replacing(third).formerActions == ["d", "b", "c"])
        #expect(try set([("A", ["a"])]).replacing(nil).formerActions.isEmpty)
    }

    @Test("of the actions of earlier sets the newest 1,000 are kept")
    func formerActionsBound() throws {
        var current = CategorySet()
        for round in 0..<3 {
            let categories = (0..<50).map { category in
                ("C\(category)", (0..<10).map { "r\(round)-\(category)-\($0)" })
            }
            current = try set(categories).replacing(current)
        }
        #expect(current.formerActions.count == 1000)
        current = CategorySet().replacing(current)
        #expect(current.formerActions.count == ModelLimits.formerActions)
        #expect(current.knowsAction("r2-0-0") && current.knowsAction("r1-0-0") && !current.knowsAction("r0-0-0"))
        #expect(try CategorySet(json: current.json) == current)
    }
}
