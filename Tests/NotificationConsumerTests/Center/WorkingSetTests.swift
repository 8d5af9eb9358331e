import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

struct WorkingSetTests {
    @Test(arguments: 0..<20)
    func `it agrees with a dictionary after any additions, changes, cuts and evictions`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = WorkingSet()
        var model: [NotificationKey: RequestID] = [:]
        var store: [NotificationKey: StateEntry] = [:]
        for step in 0..<2_000 {
            let now = at(Int64(step))
            let target = key(
                "i\(Int.random(in: 0..<60, using: &random))",
                recipient: "r\(Int.random(in: 0..<9, using: &random))"
            )
            if set.slot(of: target) == nil, let entry = store[target] { set.load(target, entry) }
            let isRemoved = Int.random(in: 0..<10, using: &random) == 0
            let change: (inout StateEntry) -> (Void, changed: Bool) = { entry in
                entry.delivered = isRemoved ? nil : .init(requestID: id("q\(step)"), at: now)
                return ((), changed: true)
            }
            if let slot = set.slot(of: target) {
                set.update(slot, at: now, change)
            } else {
                set.insert(target, at: now, change)
            }
            model[target] = isRemoved ? nil : id("q\(step)")
            guard step % 100 == 99 else { continue }
            var slots: [WorkingSet.Slot] = []
            set.cut(patience: .latest, maximumLazy: 0) { slot, key, entry, _ in
                slots.append(slot)
                store[key] = entry.isEmpty ? nil : entry
            }
            set.noteCommitted(slots, reach: now)
            for _ in 0..<10 { set.evict(beyond: 20) }
            #expect(set.count <= 20)
            #expect(set.totals.entries == model.count && set.dirtyCount == 0)
        }
        for (key, id) in model {
            let held = set.slot(of: key).map(set.entry(of:)) ?? store[key]
            #expect(held?.delivered?.requestID == id)
        }
        for number in 0..<9 {
            let whole = key("", recipient: "r\(number)")
            let found = Set(set.slots(ofRecipientOf: whole).map(set.key(of:)))
            #expect(found == Set(set.slots.map(set.key(of:)).filter { $0.recipient == "r\(number)" }))
        }
    }

    private static func pending(_ name: String, _ due: Int64) -> StateEntry.Pending {
        .init(requestID: id(name), content: content, expiration: nil, trace: .none, timer: .held, due: at(due))
    }

    @Test func `of timers at one instant the urgent ones fire first, and they can be asked for alone`() {
        var set = WorkingSet()
        func add(_ name: String, _ level: String, due: Int64) {
            set.insert(key(name), at: at(0)) { entry in
                entry.pending = Self.pending(name, due)
                entry.pending?.content = Array(#"{"title":"T","interruptionLevel":"\#(level)"}"#.utf8)[...]
                return ((), changed: true)
            }
        }
        for (number, level) in ["active", "passive", "timeSensitive", "active", "critical"].enumerated() {
            add("a\(number)", level, due: 10)
        }
        add("earlier", "passive", due: 9)
        add("later", "critical", due: 11)
        #expect(set.nextToFire(at: at(9), urgentOnly: true) == nil)
        #expect(set.nextToFire(at: at(10), urgentOnly: true).map { set.key(of: $0.slot).identifier } == "a2")
        var order: [String] = []
        while let (slot, _) = set.nextToFire(at: at(100)) {
            order.append(set.key(of: slot).identifier)
            set.update(slot, at: at(100)) { entry in
                entry.pending = nil
                return ((), changed: true)
            }
        }
        #expect(order == ["earlier", "a2", "a4", "a0", "a1", "a3", "later"])
    }

    @Test func `timers fire in order, also after changes of their due times`() {
        var set = WorkingSet()
        var due: [NotificationKey: Int64] = [:]
        for step in 0..<5_000 {
            let target = key("i\(step % 97)")
            let time = Int64((step * 7919) % 10_007)
            due[target] = step % 5 == 0 ? nil : time
            let change: (inout StateEntry) -> (Void, changed: Bool) = { entry in
                entry.version = .init(number: 1, by: id("v"))
                entry.pending = step % 5 == 0 ? nil : Self.pending("q\(step)", time)
                return ((), changed: true)
            }
            if let slot = set.slot(of: target) {
                set.update(slot, at: at(0), change)
            } else {
                set.insert(target, at: at(0), change)
            }
        }
        #expect(set.armed == due.count && set.totals.pending == due.count && set.totals.open[.held] == due.count)
        var fired: [Int64] = []
        while let (slot, _) = set.nextToFire(at: at(1_000_000)) {
            let key = set.key(of: slot)
            fired.append((set.entry(of: slot).pending?.due?.rawValue ?? 0) - at(0).rawValue)
            #expect(due.removeValue(forKey: key) == fired.last)
            set.update(slot, at: at(0)) { entry in
                entry.pending = nil
                return ((), changed: true)
            }
        }
        #expect(fired == fired.sorted() && due.isEmpty && set.armed == 0 && set.totals.pending == 0)
        #expect(set.totals.open.total == 0)
    }

    @Test func `an entry added and emptied before a cut is not in it, unless the changelog contains it`() {
        var set = WorkingSet()
        func change(_ pending: StateEntry.Pending?) -> (inout StateEntry) -> (Void, changed: Bool) {
            { entry in
                entry.pending = pending
                return ((), changed: true)
            }
        }
        set.insert(key("a"), at: at(0), change(Self.pending("a", 10)))
        set.insert(key("b"), at: at(0), change(Self.pending("b", 10)))
        if let slot = set.slot(of: key("a")) { set.update(slot, at: at(1), change(nil)) }
        var cut: [(String, Bool, Bool)] = []
        var slots: [WorkingSet.Slot] = []
        func take() {
            cut = []
            slots = []
            set.cut(patience: .latest, maximumLazy: 0) { slot, key, entry, isLogged in
                cut.append((key.identifier, entry.isEmpty, isLogged))
                slots.append(slot)
            }
        }
        take()
        #expect(cut.map { "\($0)" } == [("a", true, false), ("b", false, false)].map { "\($0)" })
        set.noteCommitted(slots, reach: at(100))
        if let slot = set.slot(of: key("b")) { set.update(slot, at: at(2), change(nil)) }
        take()
        #expect(cut.map { "\($0)" } == [("b", true, true)].map { "\($0)" })
        // Until the cut is committed the store still has the entry: it must be found here, empty.
        #expect(set.slot(of: key("b")) != nil)
        set.noteCommitted(slots, reach: at(100))
        #expect(set.slot(of: key("b")) == nil && set.count == 0)
    }

    @Test func `entries due after the horizon are evicted after their commit, unless they have changed`() {
        var set = WorkingSet()
        for (name, due) in [("near", Int64(50)), ("far", 500), ("changed", 500)] {
            set.insert(key(name), at: at(0)) { entry in
                entry.pending = Self.pending(name, due)
                return ((), changed: true)
            }
        }
        var slots: [WorkingSet.Slot] = []
        set.cut(patience: .latest, maximumLazy: 0) { slot, _, _, _ in slots.append(slot) }
        if let slot = set.slot(of: key("changed")) {
            set.update(slot, at: at(1)) { entry in
                entry.version = .init(number: 2, by: id("v"))
                return ((), changed: true)
            }
        }
        set.noteCommitted(slots, reach: at(100))
        #expect(set.slots.map { set.key(of: $0).identifier }.sorted() == ["changed", "near"])
        #expect(set.totals.pending == 3 && set.armed == 2)
    }

    @Test func `entries without a due time may be evicted after their commit, entries with a timer or a send may not`()
    {
        var set = WorkingSet()
        var slots: [WorkingSet.Slot] = []
        for name in ["timed", "timeless", "sending"] {
            set.insert(key(name), at: at(0)) { entry in
                entry.pending = Self.pending(name, 50)
                if name != "timed" { entry.pending?.due = nil }
                if name == "sending" {
                    entry.handover = .init(
                        showing: Showing(id("s"), nil),
                        content: [],
                        expiration: nil,
                        trace: .none,
                        closes: true,
                        channel: nil,
                        time: at(0)
                    )
                }
                return ((), changed: true)
            }
        }
        set.cut(patience: .latest, maximumLazy: 0) { slot, _, _, _ in slots.append(slot) }
        for _ in 0..<8 { set.evict(beyond: 0) }
        #expect(set.count == 3)
        set.noteCommitted(slots, reach: at(100))
        for _ in 0..<8 { set.evict(beyond: 0) }
        #expect(set.slots.map { set.key(of: $0).identifier }.sorted() == ["sending", "timed"])
        #expect(set.totals.pending == 3)
    }

    @Test func `the memory of a burst is released, and the remaining entries are still found`() {
        var set = WorkingSet()
        var (near, lazy): (Set<String>, Set<String>) = ([], [])
        for burst in 0..<3 {
            for number in 0..<4_000 {
                let name = "\(burst)-\(number)"
                // A few remain, for their timers or because they are not in the changelog yet.
                let (isNear, isLazy) = ((7..<17).contains(number), (20..<30).contains(number))
                let cause = isLazy ? WorkingSet.Cause.log(.init(.requests, offset: 0), number: 0) : .clock
                set.insert(key(name, recipient: "r\(number % 5)"), at: at(0), from: cause) { entry in
                    if isLazy {
                        entry.delivered = .init(requestID: id(name), at: at(0))
                    } else {
                        entry.pending = Self.pending(name, isNear ? Int64(10 + number) : 1_000_000)
                    }
                    return ((), changed: true)
                }
                if isNear || isLazy { near.insert(name) }
                if isLazy { lazy.insert(name) }
            }
            var slots: [WorkingSet.Slot] = []
            set.cut(patience: .earliest, maximumLazy: 100_000) { slot, _, _, _ in slots.append(slot) }
            set.noteCommitted(slots, reach: at(100_000))
            set.shrink(keeping: 1024)
            #expect(set.slotCount < 200)
            #expect(Set(set.slots.map { set.key(of: $0).identifier }) == near)
            #expect(
                near.allSatisfy { name in
                    (0..<5).contains { set.slot(of: key(name, recipient: "r\($0)")) != nil }
                }
            )
            #expect(set.armed == 10 * (burst + 1))
        }
        var late: [String] = []
        set.cut(patience: .latest, maximumLazy: 100_000) { _, key, _, _ in late.append(key.identifier) }
        #expect(Set(late) == lazy && late.count == lazy.count)
        #expect(set.nextDue() == at(17))
        for slot in set.slots {
            set.update(slot, at: at(1)) { entry in
                entry = StateEntry()
                return ((), changed: true)
            }
        }
        var slots: [WorkingSet.Slot] = []
        set.cut(patience: .latest, maximumLazy: 0) { slot, _, _, _ in slots.append(slot) }
        set.noteCommitted(slots, reach: at(0))
        set.shrink(keeping: 1024)
        #expect(set.count == 0 && set.nextDue() == nil)
    }
}
