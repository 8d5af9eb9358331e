import Kafka
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// The topic `signals` as the second input of a lane.
struct SignalsLaneTests {
    private static let region = CircularRegion(latitude: 31.2304, longitude: 121.4737, radius: 200)
    private static let home = KafkaPartitioner.partition(forKey: key("a").recipientBytes, count: 2)

    /// A broker with a request of `ana` that waits for a region.
    private static func broker(request timestamp: Timestamp = at(0)) -> MemoryBroker {
        let broker = MemoryBroker(partitions: 2)
        putRequest(timestamp, broker)
        return broker
    }

    private static func putRequest(_ timestamp: Timestamp, _ broker: MemoryBroker) {
        let trigger = LocationTrigger(region: region, notifyOnEntry: true, notifyOnExit: false)
        let json = String(decoding: NotificationTrigger.location(trigger).json, as: UTF8.self)
        let value = #"{"requestId":"q","content":{"title":"T"},"trigger":\#(json)}"#
        broker.requests[Int(home)].records.append((key("a").encoded, Array(value.utf8)))
        broker.requests[Int(home)].timestamps[0] = timestamp
    }

    private static func put(
        _ isInside: Bool,
        _ timestamp: Timestamp,
        in partition: Int32 = home,
        _ broker: MemoryBroker
    ) {
        let latitude = region.latitude + (isInside ? 0 : 1)
        let fix = LocationFix(device: "phone", latitude: latitude, longitude: region.longitude, at: timestamp)
        let number = Int(partition)
        broker.signals[number].timestamps[broker.signals[number].high] = timestamp
        broker.signals[number].records.append((Array("ana".utf8), fix.json))
    }

    private static func events(_ broker: MemoryBroker) -> [String] {
        broker.deliveries.map { event in
            let value = try? JSONValue.parse(event)
            return value?["occurrence"]?.stringValue ?? (value?["content"] == nil ? "scheduled" : "other")
        }
    }

    private static func run(_ broker: MemoryBroker, _ prepare: (MemoryLink) -> Void = { _ in }, turns: Int = 300) throws
    {
        let link = MemoryLink(broker)
        prepare(link)
        let lane = Lane.over(link, .atLeastOnce)
        do {
            try lane.start()
            for _ in 0..<turns { try lane.turn() }
            lane.close()
        } catch {
            lane.close(after: error)
            throw error
        }
    }

    @Test(arguments: [[InputTopic.requests, .signals], [.signals, .requests]])
    func `in a backlog a fix comes after the requests that are older, whatever is fetched first`(
        order: [InputTopic]
    ) throws {
        let broker = Self.broker()
        Self.put(false, at(10), broker)
        Self.put(true, at(20), broker)
        try Self.run(broker) { $0.order = order }
        #expect(Self.events(broker) == ["scheduled", at(20).rfc3339])
        let marker = try #require(
            broker.state[Int(Self.home)].records.last { $0.key == StateMarker.key }?.value
        )
        let read = try StateMarker(json: marker)
        #expect(read.offsets[broker.topics.requests] == 1 && read.offsets[broker.topics.signals] == 2)
        #expect(read.locatedApplications == ["shop"])
    }

    @Test func `a fix that is older than the request comes before it, and is nothing to it`() throws {
        let broker = Self.broker(request: at(15))
        Self.put(false, at(10), broker)
        Self.put(true, at(20), broker)
        try Self.run(broker) { $0.order = [.signals, .requests] }
        #expect(Self.events(broker) == ["scheduled"])
    }

    @Test func `a fix waits for its request, though a registration that is newer is read between them`() throws {
        let broker = MemoryBroker(partitions: 2)
        try Self.run(broker) { link in
            link.order = [.signals, .devices, .requests]
            // After the backlog is read.
            link.whileWaiting = {
                guard broker.signals[Int(Self.home)].records.isEmpty else { return }
                Self.putRequest(at(0), broker)
                Self.put(false, at(10), broker)
                Self.put(true, at(20), broker)
                let registration = #"{"platform":"apns","token":"\#(String(repeating: "ab", count: 32))"}"#
                broker.devices[Int(Self.home)].records.append((key("phone").encoded, Array(registration.utf8)))
                broker.devices[Int(Self.home)].timestamps[0] = at(30)
            }
        }
        #expect(Self.events(broker).last == at(20).rfc3339)
    }

    @Test func `while nobody knows how many requests there are, signals wait, but not for ever`() throws {
        let broker = Self.broker()
        Self.put(false, at(10), broker)
        let began = broker.now
        try Self.run(broker, { ($0.order, $0.unknownEnds) = ([.signals, .requests], [.requests]) }, turns: 20)
        #expect(broker.now - began < HeldSignals.patience)
        #expect(broker.committed[InputPartition(.signals, Self.home)] != 1)
        try Self.run(broker, { ($0.order, $0.unknownEnds) = ([.signals, .requests], [.requests]) }, turns: 4000)
        #expect(broker.committed[InputPartition(.signals, Self.home)] == 1)
    }

    @Test func `a signal in the partition of another recipient is sent on to its own`() throws {
        let broker = Self.broker()
        let other = 1 - Self.home
        Self.put(false, at(10), in: other, broker)
        Self.put(true, at(20), in: other, broker)
        try Self.run(broker)
        #expect(broker.signals[Int(Self.home)].records.count == 2)
        #expect(Self.events(broker) == ["scheduled", at(20).rfc3339])
    }

    @Test func `it is sent on once only`() throws {
        let intake = Intake(
            requests: RequestIntake(topic: "requests", zones: zones, partition: { _ in 1 }),
            signals: SignalIntake(application: "shop", partition: { _ in 1 }),
            devices: DeviceIntake(zones: zones, partition: { _ in 1 })
        )
        var record = Intake.Record(
            .signals,
            partition: 0,
            offset: 0,
            timestamp: nil,
            key: Array("ana".utf8),
            value: nil,
            trace: .none
        )
        #expect(intake.home(ofMisrouted: record) == 1)
        record.signal = SignalHeaders([KafkaHeader(name: "carillon-forwarded", value: Array("0".utf8))])
        #expect(record.signal.isForwarded && intake.home(ofMisrouted: record) == nil)
        record.signal = .init()
        record.input = .requests
        #expect(intake.home(ofMisrouted: record) == nil)
    }

    @Test(arguments: [0, 40] as [Int64])
    func `an input that the version before did not read is read from its first record`(low: Int64) throws {
        let broker = MemoryBroker(partitions: 2)
        for partition in 0..<Int32(2) { broker.marker(in: partition, of: 2) }
        broker.signals[Int(Self.home)].low = low
        broker.committed[InputPartition(.signals, Self.home)] = low
        Self.put(true, at(0), broker)
        try Self.run(broker)
        #expect(broker.committed[InputPartition(.signals, Self.home)] == low + 1)
    }

    @Test func `sides and the place in both inputs outlive a lane`() throws {
        let broker = Self.broker()
        Self.put(false, at(10), broker)
        try Self.run(broker)
        Self.put(true, at(20), broker)
        try Self.run(broker)
        #expect(Self.events(broker) == ["scheduled", at(20).rfc3339])
    }

    // MARK: - Records that cannot be used

    private static func rejection(
        _ change: (inout Intake.Record) -> Void,
        at now: Timestamp = at(0)
    ) -> ModelError? {
        let fix = LocationFix(device: "d", latitude: 1, longitude: 2, at: at(0))
        var record = Intake.Record(
            .signals,
            partition: 3,
            offset: 0,
            timestamp: at(0).rawValue,
            key: Array("ana".utf8),
            value: fix.json,
            trace: .none
        )
        record.signal.kind = .known(.location)
        change(&record)
        let intake = SignalIntake(application: "shop", partition: { $0 == "ana" ? 3 : 2 })
        do throws(ModelError) {
            guard case .fix(let fix) = try intake.input(from: record, life: 7, at: now) else { return nil }
            #expect(fix.recipient == "ana" && fix.position == .init(.signals, offset: 0, life: 7))
            return nil
        } catch {
            return error
        }
    }

    @Test func `an invalid signal is rejected with the reason and the field`() {
        #expect(Self.rejection { _ in } == nil)
        let cases: [((inout Intake.Record) -> Void, ReasonCode, String?)] = [
            ({ $0.key = nil }, .invalid, "key"),
            ({ $0.key = Array("a%".utf8) }, .invalid, "key"),
            ({ $0.key = Array("bob".utf8) }, .misrouted, "partition"),
            ({ $0.signal.kind = .missing }, .invalid, "ce_type"),
            ({ $0.signal.kind = .unknown }, .unsupportedForm, "ce_type"),
            ({ $0.signal.kind = .known(.response) }, .invalid, "identifier"),
            ({ $0.signal.kind = .known(.appState) }, .invalid, "state"),
            ({ $0.value = nil }, .invalid, nil),
            ({ $0.value = Array("{".utf8) }, .invalid, nil),
            ({ $0.value = Array(#"{"device":"d","latitude":NaN}"#.utf8) }, .invalid, nil),
        ]
        for (change, reason, field) in cases {
            let error = Self.rejection(change)
            #expect(error?.reason == reason, "\(String(describing: error))")
            if let field { #expect(error?.field == field) }
        }
        #expect(Self.rejection({ _ in }, at: at(-300_000)) == nil)
        #expect(Self.rejection({ _ in }, at: at(-300_001))?.reason == .inFuture)
    }

    @Test func `the headers decide what a signal is`() {
        func kind(_ type: String?) -> SignalHeaders.Kind {
            SignalHeaders(type.map { [KafkaHeader(name: "ce_type", value: Array($0.utf8))] } ?? []).kind
        }
        #expect(kind("carillon.signal.location.v1") == .known(.location))
        #expect(kind("carillon.signal.location.v2") == .unknown && kind(nil) == .missing)
    }
}
