import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

struct CheckpointTests {
    private static func offsets(_ offsets: [Int32: Int64]) -> InputOffsets {
        Dictionary(uniqueKeysWithValues: offsets.map { (InputPartition(.requests, $0), $1) })
    }

    private static func acknowledge(_ tag: Checkpoint.Tag, _ count: Int, _ checkpoint: inout Checkpoint) {
        for _ in 0..<count { checkpoint.acknowledged(tag) }
    }

    @Test func `at least once, each step waits for the acknowledgements of the previous step`() {
        var checkpoint = Checkpoint(.atLeastOnce)
        let first = checkpoint.tag
        checkpoint.published(first)
        checkpoint.published(first)
        checkpoint.cut(Self.offsets([1: 10]))
        #expect(checkpoint.next() == nil)
        Self.acknowledge(first, 2, &checkpoint)
        #expect(checkpoint.next() == .writeEntries(of: [1]))
        checkpoint.published(.entry)
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(.entry)
        #expect(checkpoint.next() == .writeMarkers(of: [1]))
        checkpoint.published(.marker)
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(.marker)
        #expect(checkpoint.next() == .commit(Self.offsets([1: 10]), of: [1]))
        #expect(checkpoint.next() == nil)
        #expect(checkpoint.isSettled)
    }

    @Test func `exactly once, all records are handed over together and committed after all acknowledgements`() {
        var checkpoint = Checkpoint(.exactlyOnce)
        let first = checkpoint.tag
        checkpoint.published(first)
        #expect(checkpoint.allowsWork)
        checkpoint.cut(Self.offsets([0: 5, 3: 9]))
        #expect(!checkpoint.allowsWork)
        #expect(checkpoint.next() == .writeEntries(of: [0, 3]))
        checkpoint.published(.entry)
        #expect(checkpoint.next() == .writeMarkers(of: [0, 3]))
        checkpoint.published(.marker)
        checkpoint.published(.marker)
        checkpoint.acknowledged(.entry)
        Self.acknowledge(.marker, 2, &checkpoint)
        // The event of the epoch is not acknowledged yet.
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(first)
        #expect(checkpoint.next() == .commit(Self.offsets([0: 5, 3: 9]), of: [0, 3]))
        #expect(!checkpoint.allowsWork)
        #expect(checkpoint.next() == nil)
        #expect(checkpoint.allowsWork && checkpoint.isSettled)
    }

    @Test func `at least once, work continues while a cut drains, and belongs to the next cut`() {
        var checkpoint = Checkpoint(.atLeastOnce)
        let first = checkpoint.tag
        checkpoint.published(first)
        checkpoint.cut(Self.offsets([0: 1]))
        #expect(checkpoint.allowsWork)
        let second = checkpoint.tag
        #expect(second != first)
        checkpoint.published(second)
        // No second cut while one is in progress.
        checkpoint.cut(Self.offsets([0: 2]))
        checkpoint.acknowledged(first)
        #expect(checkpoint.next() == .writeEntries(of: [0]))
        #expect(checkpoint.next() == .writeMarkers(of: [0]))
        checkpoint.published(.marker)
        checkpoint.acknowledged(.marker)
        #expect(checkpoint.next() == .commit(Self.offsets([0: 1]), of: [0]))
        #expect(checkpoint.next() == nil)
        #expect(!checkpoint.isSettled)
        checkpoint.cut(Self.offsets([0: 2]))
        #expect(checkpoint.next() == nil)
        checkpoint.acknowledged(second)
        #expect(checkpoint.next() == .writeEntries(of: [0]))
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `without a changed partition there is nothing to write`(guarantee: DeliveryGuarantee) {
        var checkpoint = Checkpoint(guarantee)
        checkpoint.cut([:])
        #expect(checkpoint.next() == nil)
        #expect(!checkpoint.isUnderWay && checkpoint.isSettled)
    }
}
