import NotificationModel
import Testing

@testable import ServiceSupport

@Suite("The table of categories")
struct CategoryTableTests {
    private let table = CategoryTable()

    private func set(_ action: String) throws -> CategorySet { try categorySet("C", action: action) }

    private func place(_ offset: Int64, partition: Int32 = 0, at time: Int64 = 0) -> CategoryTable.Place {
        .init(partition: partition, offset: offset, timestamp: time)
    }

    @Test("a set replaces the one before, nil removes it, and the version tells of each change")
    func changes() throws {
        #expect(table.set(of: "shop") == nil && table.count == 0)
        var versions = [table.version]
        table.set(try set("a"), of: "shop")
        versions.append(table.version)
        table.set(try set("b"), of: "shop")
        table.set(CategorySet(), of: "bank")
        versions.append(table.version)
        #expect(table.snapshot() == ["shop": try set("b"), "bank": CategorySet()] && table.count == 1)
        table.set(nil, of: "shop")
        versions.append(table.version)
        #expect(table.snapshot() == ["bank": CategorySet()])
        #expect(versions == versions.sorted() && Set(versions).count == versions.count)
    }

    @Test("two spellings of an application are two applications, as in the keys of records")
    func spellings() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        table.noteRead(try set("a"), of: composed, at: place(0))
        #expect(table.set(of: decomposed) == nil)
        table.noteRead(try set("b"), of: decomposed, at: place(0, partition: 1, at: -1))
        #expect(try table.set(of: composed) == set("a") && table.set(of: decomposed) == set("b"))
        #expect(table.snapshot().count == 2)
        table.noteWritten(CategorySet(), of: composed, partition: 0, offset: 1)
        table.set(nil, of: decomposed)
        #expect(table.set(of: composed) == CategorySet() && table.set(of: decomposed) == nil)
    }

    @Test("there is room for 1,000 applications, and for new sets of those")
    func bound() throws {
        for number in 0..<CategoryTable.applications { #expect(table.set(CategorySet(), of: "a\(number)")) }
        #expect(!table.set(CategorySet(), of: "more") && !table.hasRoom(for: "more"))
        #expect(!table.noteRead(CategorySet(), of: "more", at: place(0)))
        table.noteWritten(CategorySet(), of: "more", partition: 0, offset: 0)
        #expect(table.set(of: "more") == nil && table.snapshot().count == CategoryTable.applications)
        #expect(table.set(try set("a"), of: "a7"))
        table.set(nil, of: "a8")
        #expect(table.set(CategorySet(), of: "more"))
    }

    @Test("what was written counts before it is read, unless something later was read already")
    func written() throws {
        table.noteRead(try set("read-5"), of: "shop", at: place(5))
        table.noteWritten(try set("written-6"), of: "shop", partition: 0, offset: 6)
        #expect(try table.set(of: "shop") == set("written-6"))
        table.noteRead(try set("read-7"), of: "shop", at: place(7))
        table.noteWritten(try set("written-6"), of: "shop", partition: 0, offset: 6)
        #expect(try table.set(of: "shop") == set("read-7"))
    }

    @Test("of two partitions the later record counts, whichever is read first")
    func partitions() throws {
        for isOldFirst in [false, true] {
            let table = CategoryTable()
            let records = [
                (try set("old"), place(90, partition: 1, at: 1000)), (try set("new"), place(2, partition: 3, at: 2000)),
            ]
            for (set, place) in isOldFirst ? records : records.reversed() { table.noteRead(set, of: "shop", at: place) }
            #expect(try table.set(of: "shop") == set("new"))
        }
    }
}

/// A set of one category with one action.
func categorySet(_ category: String, action: String) throws -> CategorySet {
    let actions = #"[{"identifier":"\#(action)","title":"T"}]"#
    return try CategorySet(
        body: Array(#"{"categories":[{"identifier":"\#(category)","actions":\#(actions)}]}"#.utf8)
    )
}
