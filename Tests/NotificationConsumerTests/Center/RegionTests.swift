import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Notifications that wait for a device to cross the boundary of a region.
struct RegionTests {
    private static let here = CircularRegion(latitude: 31.2304, longitude: 121.4737, radius: 200)

    static func region(entry: Bool = true, exit: Bool = false, repeats: Bool = false) -> CenterInput.Plan {
        .region(LocationTrigger(region: here, notifyOnEntry: entry, notifyOnExit: exit, repeats: repeats))
    }

    private static func fix(
        _ isInside: Bool,
        _ milliseconds: Int64,
        device: String = "phone",
        recipient: String = "ana",
        application: String? = nil
    ) -> CenterInput {
        .fix(
            .init(
                recipient: recipient,
                fix: LocationFix(
                    application: application,
                    device: device,
                    latitude: isInside ? here.latitude : here.latitude + 1,
                    longitude: here.longitude,
                    accuracy: 15,
                    at: at(milliseconds)
                ),
                position: .init(.signals, offset: 0),
                trace: .none,
                timestamp: at(milliseconds)
            )
        )
    }

    @Test func `a request waits without a time, and is sent once when the device enters`() throws {
        var bench = Bench()
        let scheduled = bench.apply(request("q", Self.region()))
        #expect(scheduled.summary == ["scheduled q"] && scheduled.first?.nextTriggerDate == nil)
        #expect(bench.center.nextDue() == nil && bench.center.pendingCount == 1)
        // The first side is no crossing.
        #expect(bench.apply(Self.fix(true, 10), 10).isEmpty)
        #expect(bench.apply(Self.fix(false, 20), 20).isEmpty)
        let sent = bench.apply(Self.fix(true, 30), 35)
        #expect(sent.summary == ["delivered q!"] && sent.first?.occurrence == at(30))
        #expect(bench.apply(Self.fix(false, 40), 40).isEmpty)
        #expect(bench.apply(Self.fix(true, 50), 50).isEmpty)
        #expect(bench.outcomes.suffix(2) == [.unawaited, .unawaited] && bench.center.pendingCount == 0)
        #expect(bench.recipient(key(""))?.regions.isEmpty == true)
    }

    @Test func `a repeating request is sent at each crossing, each with its own instant`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region(exit: true, repeats: true)))
        bench.apply(Self.fix(false, 10), 10)
        #expect(bench.apply(Self.fix(true, 20), 20).summary == ["delivered q"])
        #expect(bench.apply(Self.fix(false, 30), 30).summary == ["delivered q"])
        bench.apply(Self.fix(false, 10, device: "watch"), 31)
        // Another device crosses at the same instant, by its own clock.
        let other = bench.apply(Self.fix(true, 30, device: "watch"), 40)
        #expect(other.summary == ["delivered q"] && other.first?.occurrence == at(31))
        #expect(bench.center.pendingCount == 1 && bench.entry(key("order"))?.delivered != nil)
    }

    @Test func `what the owner before may have sent for a fix of the backlog is taken back when it has expired since`()
        throws
    {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        for isCrossed in [true, false] {
            var bench = Bench(rules, over: MemoryEntryStore(), firedThrough: at(10_000))
            bench.center.holdsTimers = true
            bench.apply(request("q", Self.region(), expiration: at(20_000)), 30_000)
            bench.apply(Self.fix(false, 10), 30_000)
            if isCrossed { bench.apply(Self.fix(true, 20), 30_000) }
            bench.center.holdsTimers = false
            let events = bench.fire(30_001)
            #expect(events.summary == ["expired q!"] && events.first?.inDoubt == isCrossed)
            #expect(bench.sends.map(\.kind) == (isCrossed ? [.remove] : []))
        }
    }

    @Test
    func
        `without transactions a crossing waits for the marker by which the next owner knows that it may have been sent`()
    {
        var bench = Bench()
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        bench.center.sendLimit = at(15)
        #expect(bench.apply(Self.fix(true, 20), 20).isEmpty)
        bench.center.sendLimit = at(40)
        #expect(bench.fire(30).summary == ["delivered q!"])
    }

    @Test func `late and repeated fixes, and fixes of other recipients and applications, change nothing`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 20), 20)
        bench.apply(Self.fix(true, 20), 21)
        bench.apply(Self.fix(true, 10), 22)
        bench.apply(Self.fix(true, 30, recipient: "bob"), 30)
        bench.apply(Self.fix(true, 30, application: "bank"), 30)
        #expect(bench.outcomes.dropFirst() == [.located, .late, .late, .unawaited, .unawaited])
        #expect(bench.apply(Self.fix(true, 30, application: "shop"), 30).summary == ["delivered q!"])
    }

    @Test func `a fix without an application concerns the recipient in all of them`() throws {
        var bench = Bench()
        for application in ["shop", "bank"] {
            bench.apply(request("q-\(application)", key("order", application: application), Self.region()))
        }
        bench.apply(request("q-bob", key("order", recipient: "bob"), Self.region()))
        #expect(bench.center.locatedApplications == ["bank", "shop"])
        bench.apply(Self.fix(false, 10), 10)
        #expect(bench.apply(Self.fix(true, 20), 20).summary == ["delivered q-bank!", "delivered q-shop!"])
    }

    @Test func `a removal, a newer request and a removal of all end the wait, and nothing is sent any more`() throws {
        for end in 0..<3 {
            var bench = Bench()
            bench.apply(request("q", Self.region()))
            bench.apply(Self.fix(false, 10), 10)
            let ended: [DeliveryEvent]
            switch end {
            case 0: ended = bench.apply(removal("r"), 11)
            case 1: ended = bench.apply(request("q2", interval(60)), 11)
            default: ended = bench.apply(removal("r", key("")), 11)
            }
            #expect(ended.first?.requestID == id("q") && ended.first?.closes == true && ended.first?.inDoubt == false)
            #expect(bench.apply(Self.fix(true, 20), 20).isEmpty && bench.outcomes.last == .unawaited)
        }
    }

    @Test func `a newer request with another region begins without a side`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        #expect(bench.apply(request("q2", Self.region()), 11).summary == ["superseded q!", "scheduled q2"])
        #expect(bench.apply(Self.fix(true, 20), 20).isEmpty)
        bench.apply(Self.fix(false, 30), 30)
        #expect(bench.apply(Self.fix(true, 40), 40).summary == ["delivered q2!"])
    }

    @Test func `it expires while it waits, and at a crossing after its expiration`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region(), expiration: at(1000)))
        bench.apply(Self.fix(false, 10), 10)
        #expect(bench.center.nextDue() == at(1000) && bench.fire(999).isEmpty)
        #expect(bench.fire(1000).summary == ["expired q!"])
        _ = try bench.center.forget(at: at(1000))
        #expect(bench.recipient(key(""))?.regions.isEmpty == true)
        #expect(bench.apply(Self.fix(true, 1001), 1001).isEmpty)

        bench.apply(request("q2", Self.region(repeats: true), expiration: at(9000)), 6000)
        bench.apply(Self.fix(false, 6001), 6001)
        #expect(bench.apply(Self.fix(true, 6002), 6002).summary == ["delivered q2"])
        bench.apply(Self.fix(false, 6003), 6003)
        #expect(bench.apply(Self.fix(true, 8999), 9000).summary == ["expired q2!"])
        #expect(bench.apply(request("q3", Self.region(), expiration: at(9000)), 9000).summary == ["expired q3!"])
    }

    @Test func `beyond the bound of the recipient a request is capped; what waits already can be replaced`() throws {
        var bench = Bench(limits: .init(regionsPerRecipient: 2))
        bench.apply(request("a", key("a"), Self.region()))
        bench.apply(request("b", key("b"), Self.region()))
        let capped = bench.apply(request("c", key("c"), Self.region()))
        #expect(capped.summary == ["suppressed c!"] && capped.first?.reason == .capped)
        #expect(bench.apply(request("b2", key("b"), Self.region())).summary == ["superseded b!", "scheduled b2"])
        // Other recipients and other triggers are not concerned, and a free place can be used.
        #expect(bench.apply(request("d", key("d", recipient: "bob"), Self.region())).summary == ["scheduled d"])
        #expect(bench.apply(request("e", key("e"), interval(60))).summary == ["scheduled e"])
        bench.apply(removal("r", key("a")))
        #expect(bench.apply(request("f", key("f"), Self.region())).summary == ["scheduled f"])
        // A capped request leaves what it would replace.
        let kept = bench.apply(request("e2", key("e"), Self.region()))
        #expect(kept.summary == ["suppressed e2!"] && bench.entry(key("e"))?.pending?.requestID == id("e"))
    }

    @Test func `a fix reads no entry before its boundary is crossed`() throws {
        var bench = Bench(limits: .init(maximumResident: 100))
        for number in 0..<1000 {
            bench.apply(request("q\(number)", key("a", recipient: "r\(number)"), Self.region()))
        }
        try bench.commit()
        for _ in 0..<100 { _ = try bench.center.forget(at: at(0)) }
        #expect(bench.center.residentCount <= 100 && bench.center.pendingCount == 1000)
        let resident = bench.center.residentCount
        bench.apply(Self.fix(false, 10, recipient: "r7"), 10)
        #expect(bench.center.residentCount == resident && bench.center.recipients.dirtyCount == 1)
        #expect(bench.apply(Self.fix(true, 20, recipient: "r7"), 20).summary == ["delivered q7!"])
    }

    // MARK: - Restarts

    @Test func `sides and waits survive a restart, and are never forgotten as idle`() throws {
        let limits = PartitionCenter.Limits(maximumResident: 1, retention: 60_000)
        var bench = Bench(limits: limits)
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        var open = OpenCounts()
        open.add(OpenRequests(waiting: .region, sent: nil))
        #expect(bench.store.counts == StoreCounts(entries: 2, pending: 1, lasting: 1, open: open))
        var next = Bench(over: bench.store, limits: limits)
        next.center.locatedApplications = bench.center.locatedApplications
        #expect(next.center.pendingCount == 1)
        // Far beyond the retention.
        for second in stride(from: Int64(0), to: 400_000, by: 10_000) {
            _ = try next.center.forget(at: at(second))
            try next.commit()
        }
        #expect(next.center.pendingCount == 1 && next.center.entryCount == 1 && next.center.recipientCount == 1)
        #expect(next.apply(Self.fix(true, 500_000), 500_000).summary == ["delivered q!"])
    }

    @Test func `a full partition forgets what is closed, and writes nothing again for what waits`() throws {
        var bench = Bench(limits: .init(maximumEntries: 2))
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        bench.apply(request("p", key("other")), 20)
        try bench.commit()
        var dirty: [Int] = []
        for second in stride(from: Int64(1_000), through: 20_000, by: 1_000) {
            _ = try bench.center.forget(at: at(second))
            dirty.append(bench.center.dirtyCount)
            try bench.commit()
        }
        // Once, for the closed one.
        #expect(dirty.reduce(0, +) == 1)
        #expect(bench.entry(key("other")) == nil && bench.center.entryCount == 1)
        #expect(bench.apply(Self.fix(true, 30_000), 30_000).summary == ["delivered q!"])
    }

    @Test func `a fix read again changes nothing, and a checkpoint that was written in part is made whole`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region(repeats: true)))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        bench.apply(Self.fix(true, 20), 20)
        // Only the entries of the cut were written, not the recipient's record.
        let changes = bench.center.cut(at: at(20), all: true).filter { $0.key.last != UInt8(ascii: "/") }
        #expect(changes.count == 1)
        bench.store.write(changes, position: StorePosition(lineage: "test", offset: 2, writtenAt: at(0)))
        var next = Bench(over: bench.store)
        (next.center.locatedApplications, next.offset) = (["shop"], 2)
        #expect(next.apply(Self.fix(true, 20), 21).isEmpty)
        #expect(next.apply(Self.fix(true, 20), 21).isEmpty && next.outcomes == [.located, .late])
        next.apply(Self.fix(false, 30), 30)
        #expect(next.apply(Self.fix(true, 40), 40).summary == ["delivered q"])
    }

    @Test func `a request whose record was not written is noted when it is read again`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region()))
        let changes = bench.center.cut(at: at(0), all: true).filter { $0.key.last != UInt8(ascii: "/") }
        bench.store.write(changes, position: StorePosition(lineage: "test", offset: 1, writtenAt: at(0)))
        var next = Bench(over: bench.store)
        #expect(next.apply(request("q", Self.region())).isEmpty && next.outcomes == [.duplicate])
        next.apply(Self.fix(false, 10), 10)
        #expect(next.apply(Self.fix(true, 20), 20).summary == ["delivered q!"])
    }

    @Test func `while the backlog is read a crossing waits, and a removal in it may be too late`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region(repeats: true)))
        bench.apply(request("p", key("other"), Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        var next = Bench(over: bench.store, firedThrough: at(25))
        next.center.locatedApplications = ["shop"]
        (next.center.holdsTimers, next.offset) = (true, 10)
        #expect(next.apply(Self.fix(true, 20), 30).isEmpty)
        let cancelled = next.apply(removal("r", key("other")), 30)
        #expect(cancelled.summary == ["cancelled p!"] && cancelled.first?.inDoubt == true)
        // The first of two crossings is reported as missed: only the last is sent.
        next.apply(Self.fix(false, 1_040), 1_041)
        let missed = next.apply(Self.fix(true, 1_050), 1_051)
        #expect(missed.summary == ["missed q"] && missed.first?.occurrence == at(20) && missed.first?.inDoubt == true)
        next.center.holdsTimers = false
        let sent = next.fire(1_060)
        #expect(sent.summary == ["delivered q"] && sent.first?.occurrence == at(1_050))
        // What still waits was not sent.
        #expect(next.apply(removal("r2"), 1_061).first?.inDoubt == false)
    }

    @Test func `what was published again for a crossing in doubt expires like any other`() throws {
        var bench = Bench()
        bench.apply(request("q", Self.region(repeats: true), expiration: at(1_000)))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        var next = Bench(over: bench.store, firedThrough: at(25))
        next.center.locatedApplications = ["shop"]
        (next.center.holdsTimers, next.offset) = (true, 10)
        next.apply(Self.fix(true, 20), 30)
        next.center.holdsTimers = false
        #expect(next.fire(40).summary == ["delivered q"])
        #expect(next.fire(1_000).summary == ["expired q!"] && next.center.nextDue() == nil)
    }

    // MARK: - With a channel

    @Test func `what may have been sent for a crossing in the backlog is removed with its request`() throws {
        let rules = LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test))
        var bench = Bench(rules)
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        var next = Bench(rules, over: bench.store, firedThrough: at(25))
        next.center.locatedApplications = ["shop"]
        (next.center.holdsTimers, next.offset) = (true, 10)
        #expect(next.apply(removal("r"), 30).summary == ["cancelled q!"] && next.sends.isEmpty)
        next.center.holdsTimers = false
        next.fire(40)
        #expect(next.sends.map(\.kind) == [.remove])
    }

    @Test(arguments: [1_025, 1_026])
    func `a crossing may have been sent by an owner before up to a second after its timers, as clocks differ`(
        time: Int64
    ) throws {
        var bench = Bench()
        bench.apply(request("q", Self.region()))
        bench.apply(Self.fix(false, 10), 10)
        try bench.commit()
        var next = Bench(over: bench.store, firedThrough: at(25))
        next.center.locatedApplications = ["shop"]
        next.offset = 10
        #expect(next.apply(Self.fix(true, time), 1_030).first?.inDoubt == (time == 1_025))
    }

    @Test func `a crossing during a send waits for its end`() throws {
        var bench = Bench(LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test)))
        bench.apply(request("q", Self.region(repeats: true)))
        bench.apply(Self.fix(false, 10), 10)
        bench.apply(Self.fix(true, 20), 20)
        #expect(bench.sends.count == 1)
        bench.apply(Self.fix(false, 30), 30)
        bench.apply(Self.fix(true, 40), 40)
        #expect(bench.sends.count == 1)
        #expect(try bench.answer(.accepted, 50).summary == ["delivered q"])
        bench.fire(50)
        #expect(bench.sends.map(\.occurrence) == [at(20), at(40)])
        #expect(try bench.answer(.accepted, 60).summary == ["delivered q"])
    }
}
