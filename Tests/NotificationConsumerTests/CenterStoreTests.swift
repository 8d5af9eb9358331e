import NotificationModel
import Testing

@testable import NotificationConsumer

struct CenterStoreTests {
    @Test(arguments: 0..<20)
    func `it agrees with a dictionary, whatever is added, changed and forgotten`(seed: UInt64) {
        var random = SystemRandomNumberGenerator()
        var store = CenterStore()
        var model: [NotificationKey: RequestID] = [:]
        var touched: [NotificationKey: Int64] = [:]
        for step in 0..<2_000 {
            let now = Int64(step)
            let target = key(
                "i\(Int.random(in: 0..<60, using: &random))",
                recipient: "r\(Int.random(in: 0..<9, using: &random))"
            )
            store.update(target, at: at(now)) { $0.delivered = .init(requestID: id("q\(step)"), at: at(now)) }
            model[target] = id("q\(step)")
            touched[target] = now
            if step % 100 == 99 {
                let horizon = now - 50
                while store.forget(since: at(horizon), beyond: .max) > 0 {}
                // Bounded work at each call: call it until it does nothing more.
                for _ in 0..<50 { _ = store.forget(since: at(horizon), beyond: .max) }
                for (key, time) in touched where time < horizon {
                    guard store.slot(of: key) == nil else { continue }
                    model[key] = nil
                    touched[key] = nil
                }
            }
            #expect(store.count == model.count)
        }
        for (key, id) in model {
            #expect(store.slot(of: key).map(store.entry(of:))?.delivered?.requestID == id)
        }
        for number in 0..<9 {
            let whole = key("", recipient: "r\(number)")
            let found = Set(store.slots(ofRecipientOf: whole).map(store.key(of:)))
            #expect(found == Set(model.keys.filter { $0.recipient == "r\(number)" }))
        }
    }

    @Test func `timers come up in order however they were moved`() {
        var store = CenterStore()
        var due: [NotificationKey: Int64] = [:]
        for step in 0..<5_000 {
            let target = key("i\(step % 97)")
            let time = Int64((step * 7919) % 10_007)
            due[target] = step % 5 == 0 ? nil : time
            store.update(target, at: at(0)) { entry in
                entry.version = (1, id("v"))
                entry.pending =
                    step % 5 == 0
                    ? nil
                    : .init(
                        requestID: id("q\(step)"),
                        content: content,
                        expiration: nil,
                        trace: .none,
                        timer: .held,
                        due: at(time)
                    )
            }
        }
        #expect(store.pendingCount == due.count)
        var fired: [Int64] = []
        while let slot = store.popDue(at: at(1_000_000)) {
            let key = store.key(of: slot)
            fired.append((store.entry(of: slot).pending?.due.rawValue ?? 0) - at(0).rawValue)
            #expect(due.removeValue(forKey: key) == fired.last)
            store.update(slot, at: at(0)) { $0.pending = nil }
        }
        #expect(fired == fired.sorted() && due.isEmpty && store.pendingCount == 0)
    }
}
