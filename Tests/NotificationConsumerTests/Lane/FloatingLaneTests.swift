import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Calendar triggers without a time zone that a lane reads.
struct FloatingLaneTests {
    private let broker = MemoryBroker(partitions: 1)

    private func turn(_ lane: Lane<MemoryLink>, until isDone: () throws -> Bool) throws {
        for _ in 0..<500 where try !isDone() { try lane.turn() }
        #expect(try isDone())
    }

    private func marker() throws -> StateMarker? {
        try broker.state[0].records.last { $0.key == StateMarker.key }?.value.map { try StateMarker(json: $0) }
    }

    @Test func `a date that is past for the recipient is a dead letter once, and the next record is applied`() throws {
        // It is 16:00 in Shanghai.
        let phone = #"{"platform":"fcm","token":"t","timeZone":"Asia/Shanghai"}"#
        broker.devices[0].records.append((key("phone").encoded, Array(phone.utf8)))
        let lane = Lane.over(MemoryLink(broker), .atLeastOnce)
        try lane.start()
        try turn(lane) { try marker()?.offsets[broker.topics.devices] == 1 }

        let date = #""dateComponents":{"year":2027,"month":1,"day":15,"hour":9}"#
        let past = Array(#"{"requestId":"a","content":{"title":"T"},"trigger":{"type":"calendar",\#(date)}}"#.utf8)
        broker.requests[0].records.append((key("a").encoded, past))
        broker.requests[0].records.append((key("b").encoded, Array(#"{"requestId":"b","content":{"title":"T"}}"#.utf8)))
        try turn(lane) { try marker()?.offsets[broker.topics.requests] == 2 }
        #expect(broker.deliveries.count { $0 == past } == 1)
        #expect(lane.owned[0]?.center.pendingCount == 0)
        #expect(!broker.state[0].records.contains { $0.key == key("a").encoded })
        let delivered = broker.deliveries.filter { (try? JSONValue.parse($0))?["content"] != nil && $0 != past }
        #expect(delivered.count == 1)
        lane.close()

        let next = Lane.over(MemoryLink(broker), .atLeastOnce)
        try next.start()
        for _ in 0..<100 { try next.turn() }
        #expect(broker.deliveries.count { $0 == past } == 1)
        #expect(next.owned[0]?.center.pendingCount == 0)
        next.close()
    }
}
