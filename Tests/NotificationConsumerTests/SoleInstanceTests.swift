import Testing

@testable import NotificationConsumer

/// Whether an instance with media of its own is alone in its group.
struct SoleInstanceTests {
    private let start = ContinuousClock.now

    @Test func `an instance that joins another one is refused after a while`() throws {
        var sole = SoleInstance(patience: .seconds(60))
        try sole.check(assigned: 0, of: 0, at: start)
        try sole.check(assigned: 4, of: 8, at: start)
        try sole.check(assigned: 4, of: 8, at: start + .seconds(60))
        let refusal = #expect(throws: SoleInstance.Refusal.self) {
            try sole.check(assigned: 4, of: 8, at: start + .seconds(61))
        }
        #expect(refusal?.description.contains("4 of 8 partitions") == true)
    }

    @Test func `the instance that was there first goes on`() throws {
        var sole = SoleInstance(patience: .seconds(60))
        try sole.check(assigned: 8, of: 8, at: start)
        for second in 1...600 { try sole.check(assigned: 4, of: 8, at: start + .seconds(second)) }
    }

    @Test func `partitions without an owner after a crash are waited for`() throws {
        var sole = SoleInstance(patience: .seconds(60))
        for second in 0..<50 { try sole.check(assigned: 4, of: 8, at: start + .seconds(second)) }
        try sole.check(assigned: 8, of: 8, at: start + .seconds(50))
        try sole.check(assigned: 8, of: 8, at: start + .seconds(500))
    }

    @Test func `time without partitions does not count`() throws {
        var sole = SoleInstance(patience: .seconds(60))
        try sole.check(assigned: 4, of: 8, at: start)
        try sole.check(assigned: 0, of: 8, at: start + .seconds(50))
        try sole.check(assigned: 4, of: 8, at: start + .seconds(70))
    }
}
