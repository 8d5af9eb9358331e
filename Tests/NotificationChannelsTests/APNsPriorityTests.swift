import APNsSimulator
import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

/// A mass send, and what is time-critical after it: the order in which APNs accepts them.
@Suite("Priority over APNs", .timeLimit(.minutes(10)))
struct APNsPriorityTests {
    private static let streams = 8

    private static func send(_ name: String, _ level: String) throws -> Issued<ChannelSend> {
        let content = #"{"title":"\#(level)","interruptionLevel":"\#(level)"}"#
        var send = try NotificationChannelsTests.send(
            name,
            kind: .deliver(content: Array(content.utf8)[...]),
            channel: .apns
        )
        send.devices = Array(#"[{"device":"phone","presentation":["banner","list"]}]"#.utf8)[...]
        return Issued(send, of: 0, in: 1)
    }

    /// The titles of the pushes, in the order in which APNs accepted them.
    private static func accepted(_ bench: APNsBench) throws -> [String] {
        try bench.simulator.device("phone")?.pushes.map { push in
            try #require(JSONValue.parse(push.payload)["aps"]?["alert"]?["title"]?.stringValue)
        } ?? []
    }

    @Test(arguments: ["timeSensitive", "critical"])
    func `what is time-critical overtakes a mass send in the queues of the lane and of the channel`(
        _ level: String
    ) async throws {
        let bench = try await APNsBench(connections: 1, streams: Self.streams)
        try bench.register()
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        var sends = ChannelSends([bench.channel]) { _ in
            SideWork(
                concurrency: 50,
                reserve: 5,
                bound: 1_000,
                mailbox: .init(wake: { wake.yield() }, onLate: {})
            )
        }
        func add(_ send: Issued<ChannelSend>) {
            sends.add(send, within: .seconds(3600), at: .now, ManualTime().nowOfStart)
        }
        func results(_ count: Int) async -> [ChannelResult] {
            var results: [ChannelResult] = []
            var waiting = wakes.makeAsyncIterator()
            while results.count < count, await waiting.next() != nil {
                results += sends.take(at: .now).map(\.result)
                sends.beginWaiting(at: .now, ManualTime().nowOfStart)
            }
            return results
        }

        // The connection allows all its streams from now on.
        add(try Self.send("first", "active"))
        sends.flush()
        #expect(await results(1) == [.accepted])
        let connection = try #require(await bench.simulator.connections.first?.number)
        await bench.simulator.setFrozen(true, connection)
        for number in 0..<200 { add(try Self.send("mass-\(number)", number.isMultiple(of: 2) ? "active" : "passive")) }
        for number in 0..<5 { add(try Self.send("urgent-\(number)", level)) }
        sends.flush()
        await bench.simulator.setFrozen(false, connection)
        let answers = await results(205)
        #expect(answers.count == 205 && answers.allSatisfy { $0 == .accepted })
        let order = try Self.accepted(bench).dropFirst()
        #expect(order.count == 205)
        // Before them at most what was sent already: all streams but one that is kept for them.
        let last = try #require(order.lastIndex(of: level)) - order.startIndex
        #expect(last < Self.streams - 1 + 5, "\(order.prefix(40))")
        await bench.end()
    }
}

extension ManualTime {
    /// A clock that stands still.
    fileprivate var nowOfStart: () -> Timestamp { { Self.start } }
}
