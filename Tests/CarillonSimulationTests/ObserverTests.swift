import Kafka
import NotificationModel
import NotificationState
import Testing

@testable import CarillonSimulation

/// A topic of requests and a topic of deliveries, written by hand.
final class Desk {
    let cluster = Cluster(partitions: 1)
    var published: [[PublishedRecord]] = [[]]
    let observer: Observer
    let key: NotificationKey
    /// Of the delivered notifications.
    private let channel: ChannelName
    /// The producer of the events, and the generation of its group.
    var writer: ProducerStamp?
    var generation: Int?

    init(isExactlyOnce: Bool = true, usesChannel: Bool = false) throws {
        key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order")
        channel = usesChannel ? .test : .events
        let box = Box()
        observer = Observer(
            broker: cluster.broker,
            topics: cluster.topics,
            published: { box.desk?.published ?? [] },
            partitions: 1,
            isExactlyOnce: isExactlyOnce,
            channel: usesChannel ? .test : .events,
            note: { _ in }
        )
        box.desk = self
    }

    private final class Box {
        weak var desk: Desk?
    }

    static func id(_ name: String) -> RequestID { .derive(caller: "test", idempotencyKey: name) }

    func publish(_ name: String?, _ content: PublishedRecord.Content, key: NotificationKey? = nil) {
        published[0].append(
            PublishedRecord(
                partition: 0,
                offset: Int64(published[0].count),
                timestamp: SimulatedClock.beginning,
                id: name.map(Self.id),
                key: name == nil ? nil : key ?? self.key,
                content: content
            )
        )
    }

    func request(_ name: String, _ change: (inout PublishedRecord.Request) -> Void = { _ in }) {
        var request = PublishedRecord.Request(content: "{\"title\":\"\(name)\"}")
        change(&request)
        publish(name, .request(request))
    }

    func removal(_ name: String, _ scope: RemovalScope = .all) {
        publish(name, .removal(scope, version: nil))
    }

    /// Publishes an event a number of milliseconds after the start.
    func event(
        _ name: DeliveryEventName,
        _ request: String,
        closes: Bool = false,
        at time: Int64 = 0,
        _ change: (inout DeliveryEvent) -> Void = { _ in }
    ) throws(Violation) {
        var event = DeliveryEvent(name: name, requestID: Self.id(request), key: key, closes: closes)
        if name == .delivered {
            event.content = Array("{\"title\":\"\(request)\"}".utf8)[...]
            event.channel = channel.rawValue
        }
        change(&event)
        var id: [UInt8] = []
        event.writeEventID(to: &id)
        cluster.broker.log(cluster.topics.deliveries, 0).append(
            LogRecord(
                timestamp: 0,
                key: key.encoded,
                value: event.json,
                headers: [
                    KafkaHeader(name: "ce_id", value: id),
                    KafkaHeader(name: "ce_type", text: "\(name.type)"),
                    KafkaHeader(name: "ce_time", text: SimulatedClock.beginning.adding(milliseconds: time).rfc3339),
                ],
                producer: writer,
                generation: generation
            )
        )
        try observer.follow()
    }

    /// The rule that the body breaks.
    static func broken(_ body: () throws -> Void) -> Violation.Rule? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Violation)?.rule
        }
    }
}

struct ObserverTests {
    @Test func `a delivered request breaks no rule`() throws {
        let desk = try Desk()
        desk.request("q")
        try desk.event(.delivered, "q", closes: true)
        try desk.observer.checkCounting(isEnd: true, isExactlyOnce: true)
        #expect(desk.observer.open.isEmpty)
    }

    @Test func `a repeated event breaks exactly-once, but not at-least-once`() throws {
        for isExactlyOnce in [true, false] {
            let desk = try Desk(isExactlyOnce: isExactlyOnce)
            desk.request("q")
            try desk.event(.delivered, "q", closes: true)
            let broken = Desk.broken { try desk.event(.delivered, "q", closes: true) }
            #expect(broken == (isExactlyOnce ? .exactlyOnce : nil))
        }
    }

    @Test func `what the timestamp of a push has outdated ends nothing that was published before it`() throws {
        let desk = try Desk(usesChannel: true)
        desk.removal("r")
        desk.request("q") { ($0.isActivity, $0.interval, $0.repeats) = (true, 60_000, true) }
        desk.request("s") { ($0.isActivity, $0.version) = (true, 1) }
        try desk.event(.cancellationMissed, "r")
        try desk.event(.scheduled, "q") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 60_000) }
        try desk.event(.superseded, "s", closes: true) { $0.by = Desk.id("r") }
        try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true)
    }

    @Test func `two closing events of a request are a violation, unless one of them may be in doubt`() throws {
        for (isExactlyOnce, doubt, expected) in [
            (true, true, Violation.Rule.oneClosing), (false, true, nil), (false, false, .oneClosing),
        ] {
            let desk = try Desk(isExactlyOnce: isExactlyOnce, usesChannel: true)
            desk.request("q")
            desk.removal("r")
            try desk.event(.delivered, "q", closes: true)
            let broken = Desk.broken {
                try desk.event(.cancelled, "q", closes: true) {
                    $0.by = Desk.id("r")
                    $0.inDoubt = doubt
                }
            }
            #expect(broken == expected)
        }
    }

    @Test(
        arguments: [(0, Violation.Rule.oneClosing), (-1000, .oneClosing), (-1001, nil)] as [(Int64, Violation.Rule?)]
    )
    func `an owner whose clock is behind that of a request leaves no doubt to the next one`(
        time: Int64,
        expected: Violation.Rule?
    ) throws {
        for areClocksRight in [false, true] {
            let desk = try Desk(isExactlyOnce: false, usesChannel: true)
            desk.observer.wereClocksRight = areClocksRight
            desk.request("q")
            desk.request("s")
            try desk.event(.delivered, "q", closes: true, at: time)
            let broken = Desk.broken {
                try desk.event(.superseded, "q", closes: true, at: 10_000) { $0.by = Desk.id("s") }
            }
            #expect(broken == (areClocksRight ? .oneClosing : expected))
        }
    }

    @Test func `a request without an event is lost, and also one that should be closed`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 1000 }
        try desk.observer.follow()
        let broken1 = Desk.broken { try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true) }
        #expect(broken1 == .nothingLost)
        try desk.event(.scheduled, "q") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 1000) }
        let broken2 = Desk.broken { try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true) }
        #expect(broken2 == .nothingLost)
    }

    @Test func `if no instance continues, requests before the marker are closed or in the changelog`() throws {
        let desk = try Desk(usesChannel: true)
        desk.request("q")
        desk.request("unread")
        let (broker, topics) = (desk.cluster.broker, desk.cluster.topics)
        for value in ["q", "unread"] { broker.log(topics.requests, 0).append(record("k", value)) }
        let state = StateObserver(broker: broker, topics: topics, isExactlyOnce: true, isDisturbed: false) { _ in 0 }
        func counted(_ entry: StateEntry) throws -> Violation.Rule? {
            var marker = StateMarker(
                offsets: [topics.requests: 1],
                wallTime: SimulatedClock.beginning,
                partitions: 1,
                timeZoneDataVersion: ""
            )
            marker.firedThrough = SimulatedClock.beginning.adding(milliseconds: 1000)
            for (key, value) in [(desk.key.encoded, entry.json), (StateMarker.key, marker.json)] {
                broker.log(topics.state, 0).append(LogRecord(timestamp: 0, key: key, value: value))
            }
            return Desk.broken {
                try desk.observer.follow()
                try state.follow(desk.observer)
                try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true, asOf: state)
            }
        }
        var entry = StateEntry()
        let now = SimulatedClock.beginning
        entry.handover = .init(
            showing: Showing(Desk.id("q"), nil),
            content: Array("{}".utf8)[...],
            expiration: nil,
            trace: .none,
            closes: true,
            channel: nil,
            time: now
        )
        #expect(try counted(entry) == nil)
        entry.handover = nil
        entry.pending = .init(
            requestID: Desk.id("q"),
            content: Array("{}".utf8)[...],
            expiration: nil,
            trace: .none,
            timer: .held,
            due: now
        )
        #expect(try counted(entry) == .nothingLost)
        entry.pending?.timer = .turn
        #expect(try counted(entry) == nil)
        #expect(try counted(StateEntry()) == .state)
    }

    @Test(arguments: [(true, nil), (false, Violation.Rule.state)])
    func `without transactions a paused owner can overwrite the entries of its successor`(
        isDisturbed: Bool,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk(isExactlyOnce: false)
        desk.request("q") { $0.interval = 1000 }
        let (broker, topics) = (desk.cluster.broker, desk.cluster.topics)
        broker.log(topics.requests, 0).append(record("k", "q"))
        try desk.event(.scheduled, "q") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 1000) }
        var newer = StateEntry()
        newer.applied[.requests].offset = 0
        newer.pending = .init(
            requestID: Desk.id("q"),
            content: Array("{}".utf8)[...],
            expiration: nil,
            trace: .none,
            timer: .held,
            due: SimulatedClock.beginning
        )
        var marker = StateMarker(
            offsets: [topics.requests: 1],
            wallTime: SimulatedClock.beginning,
            partitions: 1,
            timeZoneDataVersion: ""
        )
        marker.firedThrough = SimulatedClock.beginning.adding(milliseconds: 1000)
        let (late, key) = (StateEntry().json, desk.key.encoded)
        for (key, value) in [
            (key, newer.json), (StateMarker.key, marker.json), (key, late), (StateMarker.key, marker.json),
        ] {
            broker.log(topics.state, 0).append(LogRecord(timestamp: 0, key: key, value: value))
        }
        let state = StateObserver(broker: broker, topics: topics, isExactlyOnce: false, isDisturbed: isDisturbed) { _ in
            0
        }
        #expect(Desk.broken { try state.follow(desk.observer) } == expected)
        guard expected == nil else { return }
        // It is lost, until an owner that reads it again holds it.
        #expect(state.reopened(desk.observer) == 0 && desk.observer.open.isEmpty)
        broker.log(topics.state, 0).append(LogRecord(timestamp: 0, key: key, value: newer.json))
        broker.log(topics.state, 0).append(LogRecord(timestamp: 0, key: StateMarker.key, value: marker.json))
        try state.follow(desk.observer)
        #expect(state.reopened(desk.observer) == 1 && desk.observer.open.isEmpty)
    }

    @Test func `a repeating request may be pending until everything is removed`() throws {
        let desk = try Desk()
        desk.request("q") {
            $0.interval = 60_000
            $0.repeats = true
        }
        try desk.event(.scheduled, "q") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 60_000) }
        try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true)
        let broken3 = Desk.broken { try desk.observer.checkCounting(isEnd: true, isExactlyOnce: true) }
        #expect(broken3 == .nothingLost)
    }

    @Test func `no notification is delivered before its time`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 1000 }
        let due = SimulatedClock.beginning.adding(milliseconds: 1000)
        let broken4 = Desk.broken { try desk.event(.delivered, "q", closes: true, at: 999) { $0.occurrence = due } }
        #expect(broken4 == .neverEarly)
        let held = try Desk()
        held.request("h") { $0.collapseWindow = 500 }
        try held.event(.held, "h") { $0.until = SimulatedClock.beginning.adding(milliseconds: 500) }
        let broken5 = Desk.broken { try held.event(.delivered, "h", closes: true, at: 499) }
        #expect(broken5 == .neverEarly)
    }

    @Test func `an occurrence is an instant of its trigger`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 1000 }
        let broken = Desk.broken {
            try desk.event(.delivered, "q", closes: true, at: 5000) {
                $0.occurrence = SimulatedClock.beginning.adding(milliseconds: 2000)
            }
        }
        #expect(broken == .occurrences)
    }

    @Test func `a notification leaves through the channel that it names, else through that of the run`() throws {
        for (named, used) in [(nil, "events"), (ChannelName.events, "test"), (nil, nil)] as [(ChannelName?, String?)] {
            let desk = try Desk(usesChannel: true)
            desk.request("q") { $0.channel = named }
            let broken = Desk.broken { try desk.event(.delivered, "q", closes: true) { $0.channel = used } }
            #expect(broken == .channel)
        }
    }

    @Test func `there is no gap between occurrences`() throws {
        let desk = try Desk()
        desk.request("q") {
            $0.interval = 60_000
            $0.repeats = true
        }
        func occurrence(_ count: Int64) -> Timestamp { SimulatedClock.beginning.adding(milliseconds: count * 60_000) }
        try desk.event(.delivered, "q", at: 60_000) { $0.occurrence = occurrence(1) }
        try desk.event(.missed, "q", at: 250_000) {
            ($0.occurrence, $0.first, $0.last, $0.count) = (occurrence(2), occurrence(2), occurrence(3), 2)
        }
        try desk.event(.delivered, "q", at: 250_000) { $0.occurrence = occurrence(4) }
        try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true)
        try desk.event(.delivered, "q", at: 400_000) { $0.occurrence = occurrence(6) }
        let broken6 = Desk.broken { try desk.observer.checkCounting(isEnd: false, isExactlyOnce: true) }
        #expect(broken6 == .occurrences)
    }

    @Test(arguments: [("early", Violation.Rule.closingReason), ("delivered", .closingReason), ("late", nil)])
    func `a request is cancelled only by a later removal that covers pending notifications`(
        by: String,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk()
        desk.removal("early")
        desk.request("q") { $0.interval = 1000 }
        desk.removal("delivered", .delivered)
        desk.removal("late", .pending)
        let broken = Desk.broken { try desk.event(.cancelled, "q", closes: true) { $0.by = Desk.id(by) } }
        #expect(broken == expected)
    }

    @Test func `only a request with an expiration, or with a policy that drops it, expires`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 1000 }
        desk.request("dropped") {
            $0.interval = 1000
            $0.misfire = .drop
        }
        let broken = Desk.broken { try desk.event(.expired, "q", closes: true) }
        #expect(broken == .closingReason)
        try desk.event(.expired, "dropped", closes: true, at: 11_001)
    }

    @Test(arguments: [("new", nil), ("old", Violation.Rule.closingReason)])
    func `an older version is superseded by the request or removal with the newer version`(
        by: String,
        expected: Violation.Rule?
    ) throws {
        let desk = try Desk()
        desk.request("new") { $0.version = 2 }
        desk.request("old") { $0.version = 1 }
        try desk.event(.delivered, "new", closes: true)
        let broken = Desk.broken { try desk.event(.superseded, "old", closes: true) { $0.by = Desk.id(by) } }
        #expect(broken == expected)
    }

    @Test func `a request that a later record has removed is not delivered`() throws {
        let desk = try Desk()
        desk.request("a") { $0.interval = 1000 }
        desk.request("b") { $0.interval = 5000 }
        try desk.event(.scheduled, "a") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 1000) }
        try desk.event(.scheduled, "b") { $0.nextTriggerDate = SimulatedClock.beginning.adding(milliseconds: 5000) }
        let broken = Desk.broken {
            try desk.event(.delivered, "a", closes: true, at: 2000) {
                $0.occurrence = SimulatedClock.beginning.adding(milliseconds: 1000)
            }
        }
        #expect(broken == .order)
    }

    @Test func `every removal has an event`() throws {
        let desk = try Desk()
        desk.removal("r")
        try desk.observer.follow()
        let broken10 = Desk.broken { try desk.observer.checkCounting(isEnd: true, isExactlyOnce: true) }
        #expect(broken10 == .removalAnswered)
        try desk.event(.cancellationMissed, "r") { $0.known = .unknown }
        try desk.observer.checkCounting(isEnd: true, isExactlyOnce: true)
    }

    @Test func `only the content of a known request is delivered`() throws {
        let desk = try Desk()
        desk.request("q")
        let other = Array("{}".utf8)[...]
        let broken11 = Desk.broken { try desk.event(.delivered, "q", closes: true) { $0.content = other } }
        #expect(broken11 == .content)
        let broken12 = Desk.broken { try desk.event(.delivered, "nobody", closes: true) }
        #expect(broken12 == .known)
    }

    @Test func `a bad record must become a dead letter`() throws {
        let desk = try Desk()
        desk.publish(nil, .bad(.invalid))
        try desk.observer.follow()
        let broken13 = Desk.broken { try desk.observer.checkCounting(isEnd: true, isExactlyOnce: true) }
        #expect(broken13 == .deadLetters)
    }

    @Test func `a removal of all of a recipient's affects earlier requests, and no later ones`() throws {
        let desk = try Desk()
        desk.request("q") { $0.interval = 1000 }
        let all = try NotificationKey(application: "shop", recipient: "ana", identifier: "")
        desk.publish("r", .removal(.pending, version: nil), key: all)
        try desk.observer.follow()
        #expect(desk.observer.model.mayWait(desk.key, before: .max) == nil)
        desk.request("later")
        try desk.observer.follow()
        #expect(desk.observer.model.mayWait(desk.key, before: .max) == Desk.id("later"))
        #expect(desk.observer.model.mayWait(desk.key, before: 1) == Desk.id("q"))
    }
}
