import Testing

/// A course of events and its required result, for any stage.
struct Scenario: Sendable, CustomStringConvertible {
    var title: String
    /// The features that the stage must have.
    var needs: Set<StageCapability> = []
    var play: @Sendable (any Stage) async throws -> Void

    init(
        _ title: String,
        needs: Set<StageCapability> = [],
        play: @escaping @Sendable (any Stage) async throws -> Void
    ) {
        (self.title, self.needs, self.play) = (title, needs, play)
    }

    var description: String { title }

    static let partitions = 8

    static let all = [
        killUnderLoad, oneKilledOneFrozen, joinUnderLoad, handOver, compaction, brokerRestart, readerAwayTooLong,
    ]

    /// No request without its event, none open but so many, or any number (nil); and no repeat where transactions promise it.
    @discardableResult
    static func settled(_ stage: any Stage, open: Int? = 0, mayRepeat: Bool = true) async throws -> Account {
        let account = try await stage.account(open: open)
        if stage.capabilities.contains(.transactions) || !mayRepeat {
            #expect(account.repeats == 0, "no reader sees an event twice: \(account)")
        }
        return account
    }

    /// Every partition has exactly one owner, which works on it.
    static func eachPartitionHasOneOwner(_ stage: any Stage, _ instances: [String]) async throws {
        try await stage.until("each partition has one of the owners \(instances)") {
            var owned = 0
            var read: [Int] = []
            for instance in instances {
                let report = try await stage.report(of: instance)
                owned += report.partitions
                read += report.read
            }
            return owned == partitions && read.count == partitions && Set(read).count == partitions
        }
    }

    /// Waits until the instances together have so many pending.
    static func pending(_ count: Int, _ stage: any Stage, _ instances: String...) async throws {
        try await stage.until("\(count) are pending at \(instances)") {
            var pending = 0
            for instance in instances { pending += try await stage.report(of: instance).pending }
            return pending == count
        }
    }
}
