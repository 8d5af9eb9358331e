import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import CarillonSimulation
@testable import NotificationConsumer

struct SimulatedChannelTests {
    private let cluster = Cluster()
    private let devices = SimulatedDevices()

    /// A channel, and the sends of a lane that uses it.
    private final class Desk {
        let channel: SimulatedChannel
        let bell = SimulatedBell()
        private let lateBell = SimulatedBell()
        private var sends: SideWork<Issued<ChannelSend>, ChannelResult>
        private let timeline: Timeline

        init(_ channel: SimulatedChannel, _ timeline: Timeline) {
            (self.channel, self.timeline) = (channel, timeline)
            let mailbox = SideWorkMailbox<ChannelResult>(
                wake: { [bell] in bell.ring() },
                onLate: { [lateBell] in lateBell.ring() }
            )
            sends = SideWork(concurrency: 10, bound: 10, mailbox: mailbox)
        }

        func begin(_ send: ChannelSend) {
            sends.add(Issued(send, of: 0, in: 1), within: .seconds(30))
            sends.begin(at: timeline.clock.instant) { channel.begin($0, $1) }
        }

        /// The outcomes since the last call; nil for sends that timed out.
        func take() -> [ChannelResult?] {
            bell.still()
            return sends.take(at: timeline.clock.instant).map { _, ending in
                switch ending {
                case .answered(let result): return result
                case .timedOut(let reply):
                    channel.cancel(reply)
                    return nil
                case .withdrawn: return nil
                }
            }
        }

        var hasLate: Bool { lateBell.isRung }
    }

    private func desk(_ process: SimulatedProcess, _ rates: SimulatedChannel.Rates = .init()) -> Desk {
        let channel = SimulatedChannel(
            devices: devices,
            process: process,
            timeline: cluster.timeline,
            random: SeededGenerator(seed: 5)
        )
        channel.rates = rates
        return Desk(channel, cluster.timeline)
    }

    private func send(_ id: String, _ kind: ChannelSend.Kind = .deliver(content: [])) throws -> ChannelSend {
        ChannelSend(
            id: UUIDv5.make(namespace: UUIDv5.eventNamespace, pieces: [id]),
            key: try NotificationKey(application: "a", recipient: "r", identifier: "i"),
            kind: kind,
            channel: .test,
            requestID: try RequestID(text: id)
        )
    }

    private func pass(seconds: Int64) {
        cluster.timeline.advance(to: cluster.timeline.now + seconds * 1_000_000)
    }

    @Test func `a device shows the last send, and nothing after a recall`() throws {
        let desk = desk(cluster.process())
        let first = try send("1")
        desk.begin(first)
        #expect(desk.take().isEmpty, "it does not wait")
        pass(seconds: 10)
        #expect(desk.bell.isRung && desk.take() == [.accepted] && desk.take().isEmpty)
        #expect(devices.shown[first.key] == [SimulatedDevices.unnamed: Showing(first.requestID, nil)])
        desk.begin(try send("2", .remove))
        pass(seconds: 10)
        #expect(devices.shown[first.key] == nil)
        #expect(!devices.records.contains { !$0.isOver })
    }

    @Test func `a recall for one device leaves what the others show`() throws {
        let desk = desk(cluster.process())
        var delivery = try send("1")
        delivery.devices = Array(#"[{"device":"a"},{"device":"b"},{"device":"c","outcome":"suppressed"}]"#.utf8)[...]
        var recall = try send("2", .remove)
        recall.devices = Array(#"[{"device":"a"}]"#.utf8)[...]
        for send in [delivery, recall] {
            desk.begin(send)
            pass(seconds: 10)
            #expect(desk.take() == [.accepted])
        }
        #expect(devices.shown[delivery.key] == ["b": Showing(delivery.requestID, nil)])
    }

    @Test func `a rejected send does not reach its device, but a send without an answer does`() throws {
        let process = cluster.process()
        let rejecting = desk(process, .init(rejecting: 1000))
        rejecting.begin(try send("1"))
        pass(seconds: 10)
        #expect(rejecting.take() == [.rejected(.rejected)])
        #expect(devices.shown.isEmpty)
        let losing = desk(process, .init(losing: 1000))
        losing.begin(try send("2"))
        pass(seconds: 20)
        #expect(losing.take().isEmpty && devices.openCount == 1)
        pass(seconds: 20)
        #expect(losing.take() == [nil] && devices.openCount == 0)
        #expect(devices.shown.count == 1)
    }

    @Test func `an outcome can arrive twice, and late`() throws {
        let desk = desk(cluster.process(), .init(delaying: 1000, repeating: 1000))
        desk.begin(try send("1"))
        for _ in 0..<100 where !desk.bell.isRung { pass(seconds: 1) }
        pass(seconds: 1)
        #expect(desk.take().count == 1 && desk.hasLate)
    }

    @Test func `an ended process gets no outcome, but its sends in progress arrive`() throws {
        let process = cluster.process()
        let desk = desk(process)
        desk.begin(try send("1"))
        process.crash()
        pass(seconds: 10)
        #expect(desk.take().isEmpty)
        #expect(devices.shown.count == 1)
        #expect(!devices.records.contains { !$0.isOver })
    }
}

struct SimulatedStoreTests {
    private let cluster = Cluster()
    private let disk = SimulatedDisk()

    private func store(_ process: SimulatedProcess) -> SimulatedStore {
        SimulatedStore(
            disk: disk,
            partition: 0,
            timeline: cluster.timeline,
            process: process,
            random: SeededGenerator(seed: 1)
        )
    }

    private func position(_ offset: Int64) -> StorePosition {
        StorePosition(lineage: "l", offset: offset, writtenAt: Timestamp(rawValue: 0))
    }

    private func change(_ key: String, _ value: String?, due: Int64? = nil, touched: Int64 = 0) -> StoreChange {
        StoreChange(
            key: bytes(key),
            value: value.map(bytes),
            due: due.map(Timestamp.init(rawValue:)),
            touched: Timestamp(rawValue: touched)
        )
    }

    @Test func `a write is visible immediately, and on the disk later, with its position`() {
        let store = store(cluster.process())
        store.write([change("a", "1")], position: position(3))
        #expect(store.entry(of: bytes("a"))?.value == bytes("1"))
        #expect(store.position == position(3))
        #expect(disk.contents[0] == nil)
        #expect(store.unwritten == 1)
        cluster.timeline.advance(to: 1_000_000)
        #expect(disk.contents[0]?.position == position(3))
        #expect(store.unwritten == 0)
    }

    @Test func `unwritten changes are lost with the process`() {
        let process = cluster.process()
        let first = store(process)
        first.write([change("a", "1")], position: position(3))
        first.flush()
        first.write([change("a", "2"), change("b", "1")], position: position(5))
        process.crash()
        cluster.timeline.advance(to: 1_000_000)
        let second = store(cluster.process())
        #expect(second.position == position(3))
        #expect(second.entry(of: bytes("a"))?.value == bytes("1"))
        #expect(second.counts == StoreCounts(entries: 1, pending: 0))
    }

    @Test func `due entries are returned in order, one page at a time`() {
        let store = store(cluster.process())
        store.write(
            [change("a", "1", due: 30), change("b", "2", due: 10), change("c", "3", due: 20), change("d", "4")],
            position: position(1)
        )
        var cursor = DueCursor(before: Timestamp(rawValue: .min))
        let first = store.due(after: &cursor, through: Timestamp(rawValue: 25), limit: 1)
        #expect(first.map(\.key) == [bytes("b")])
        #expect(store.due(after: &cursor, through: Timestamp(rawValue: 25), limit: 9).map(\.key) == [bytes("c")])
        #expect(store.due(after: &cursor, through: Timestamp(rawValue: 25), limit: 9).isEmpty)
        #expect(store.due(after: &cursor, through: Timestamp(rawValue: 30), limit: 9).map(\.key) == [bytes("a")])
        #expect(store.counts == StoreCounts(entries: 4, pending: 3))
    }

    @Test func `idle entries are ordered by their last change, and prefixes find their entries`() throws {
        let store = store(cluster.process())
        store.write(
            [change("a/r/1", "1", touched: 9), change("a/r/2", "2", touched: 3), change("a/s/1", "3", due: 1)],
            position: position(1)
        )
        #expect(store.idle(limit: 5).map(\.key) == [bytes("a/r/2"), bytes("a/r/1")])
        #expect(try store.entries(withPrefix: bytes("a/r/")).count == 2)
        store.write([change("a/r/1", nil)], position: position(2))
        #expect(try store.entries(withPrefix: bytes("a/r/")).map(\.key) == [bytes("a/r/2")])
    }
}
