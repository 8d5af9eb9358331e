import Testing

@testable import NotificationConsumer

struct CheckpointTests {
    @Test func `markers follow the acknowledgement of every event, the commit follows the markers`() {
        var checkpoint = Checkpoint(partitions: 2)
        let first = checkpoint.tag
        checkpoint.published()
        checkpoint.published()
        checkpoint.applied(9, of: 1)
        checkpoint.cut()
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(first)
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(first)
        #expect(checkpoint.next() == .writeMarkers([1: 10]))
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(.marker)
        #expect(checkpoint.next() == .commit([1: 10]))
        #expect(checkpoint.isSettled)
    }

    @Test func `work goes on while a cut drains, and belongs to the next one`() {
        var checkpoint = Checkpoint(partitions: 1)
        let first = checkpoint.tag
        checkpoint.published()
        checkpoint.applied(0, of: 0)
        checkpoint.cut()
        let second = checkpoint.tag
        #expect(second != first)
        checkpoint.published()
        checkpoint.applied(1, of: 0)
        checkpoint.cut()
        checkpoint.acknowledged(first)
        #expect(checkpoint.next() == .writeMarkers([0: 1]))
        checkpoint.acknowledged(.marker)
        #expect(checkpoint.next() == .commit([0: 1]))
        checkpoint.cut()
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(second)
        #expect(checkpoint.next() == .writeMarkers([0: 2]))
    }

    @Test func `nothing read means nothing to write`() {
        var checkpoint = Checkpoint(partitions: 3)
        checkpoint.cut()
        #expect(checkpoint.next() == nil)
        #expect(!checkpoint.isUnderWay && checkpoint.isSettled)
    }

    @Test func `a partition that left is neither marked nor committed`() {
        var checkpoint = Checkpoint(partitions: 2)
        checkpoint.applied(4, of: 0)
        checkpoint.applied(7, of: 1)
        checkpoint.cut()
        checkpoint.forget([0])
        #expect(checkpoint.next() == .writeMarkers([1: 8]))
    }
}
