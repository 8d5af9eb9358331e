import Testing

/// Changes of the topics, and failures of the broker.
extension Scenario {
    static let compaction = Scenario(
        "compaction of requests and of state loses no pending notification",
        needs: [.compaction]
    ) { stage in
        try await stage.start("a", .init())
        try await stage.ready("a")
        try await stage.publish(.init(name: "far", count: 50, due: .seconds(14 * 86_400)))
        try await stage.publish(.init(name: "now", count: 500))
        // The same keys again: their earlier records may be compacted.
        try await stage.publish(.init(name: "now", count: 500))
        try await settled(stage, open: 50)
        try await stage.compact()
        #expect(try await stage.state().pending == 50)
        try await stage.kill("a")
        try await stage.start("a", .init())
        try await stage.ready("a")
        try await pending(50, stage, "a")
        try await stage.publish(.init(name: "after", count: 50))
        try await settled(stage, open: 50)
    }

    static let brokerRestart = Scenario(
        "the broker is unavailable for a while under load: nothing is lost",
        needs: [.brokerRestart]
    ) { stage in
        try await stage.start("a", .init())
        try await stage.ready("a")
        try await stage.publish(.init(name: "far", count: 30, due: .seconds(14 * 86_400)))
        try await stage.beginLoad()
        try await stage.load(reaches: 200)
        try await stage.restartBroker()
        try await stage.load(reaches: 200)
        try await stage.endLoad()
        try await settled(stage, open: 30)
        try await stage.ready("a")
        try await pending(30, stage, "a")
    }

    static let readerAwayTooLong = Scenario(
        "requests deleted before they were read: it refuses with the remedy, and continues if the setting permits it",
        needs: [.expiry]
    ) { stage in
        try await stage.start("a", .init())
        try await stage.ready("a")
        try await stage.publish(.init(name: "far", count: 30, due: .seconds(14 * 86_400)))
        try await settled(stage, open: 30)
        try await stage.stop("a")
        // No instance reads these.
        try await stage.publish(.init(name: "lost", count: 20, recipients: 1))
        try await stage.expireRequests(ofRecipient: 0)
        try await stage.start("a", .init())
        let refusal = try await stage.refusal(of: "a")
        #expect(refusal.status == 1)
        #expect(refusal.log.contains("requests are missing"), "\(refusal.log)")
        #expect(refusal.log.contains("set `consumer.on-gap` to `continue`"), "\(refusal.log)")
        #expect(try await !stage.deliveries().contains { $0.identifier.hasPrefix("lost") })

        try await stage.start("a", .init(continuesOverGap: true))
        try await stage.ready("a")
        try await pending(30, stage, "a")
        try await stage.publish(.init(name: "after", count: 20, recipients: 1))
        try await stage.until("what comes after the gap is delivered") {
            try await stage.deliveries().count { $0.name == "delivered" && $0.identifier.hasPrefix("after") } == 20
        }
        #expect(try await !stage.deliveries().contains { $0.identifier.hasPrefix("lost") })
    }
}
