import NotificationConsumer
import NotificationModel
import ServiceSupport

/// The parameters of a run.
struct Scenario {
    var instances: Int
    var lanesEach: Int
    var partitions: Int32
    /// Scenes of the workload, each with a few records.
    var scenes: Int
    var usesChannel: Bool
    /// With a channel: it reaches each device by itself.
    var reachesDevices = false
    /// Some identifiers are Live Activities.
    var hasActivities = false
    /// Faults in a thousand calls to the broker.
    var faultRate: Int
    /// The rates of other faults, in a thousand scenes each.
    var crashRate: Int
    var pauseRate: Int
    var clockRate: Int
    var restartRate: Int
    var eraseRate: Int
    var compactionRate: Int
    /// Processes that lose the connection to the group coordinator for a while, and continue to work.
    var coordinatorLossRate = 0
    /// Entries without a timer that a partition keeps in memory.
    var residentEntries: Int
    /// Entries that a removal of all of a recipient's notifications changes in one piece.
    var entriesPerPiece: Int
    /// Milliseconds for which closed requests and delivered notifications are remembered.
    var retention = Self.longRetention
    /// The maximum number of entries of a partition.
    var maximumEntries = Self.manyEntries
    /// The rate at which the broker accepts records of all producers; nil for no limit.
    var bytesPerSecond: Int64?
    /// The coordinator writes the ends of some transactions seconds after they were decided.
    var writesEndsLate = false
    /// The group's offsets are changed while no instance runs; they must have no effect except on the reported lag.
    var resetsOffsets = false
    /// No lane detects that it was paused: only the fence makes its later work ineffective.
    var isBlind = false
    /// Partitions are added.
    var growth: Growth?
    var growsWhileRunning = false
    /// The maximum number of concurrent sends of a lane.
    var concurrentSends = 500
    /// The stores are in files.
    var usesFiles = false
    /// There are business events too, which the ingest converts to requests.
    var hasEvents = false
    /// Gaps of weeks and months between scenes.
    var isLong: Bool
    /// Where a partition without a marker starts.
    var start: LaneConfiguration.Start

    /// Which topic gets more partitions first; in the end both have the same number.
    enum Growth: CaseIterable {
        case requests, state, both
    }

    /// The channel of notifications that name none.
    var channel: ChannelName { !usesChannel ? .events : reachesDevices ? .devices : .test }

    /// No earlier owner can continue to work later.
    var isUndisturbed: Bool { instances > 0 && faultRate == 0 && pauseRate == 0 && coordinatorLossRate == 0 }

    /// As long as the longest simulation.
    static let longRetention: Int64 = 365 * 86_400_000
    static let manyEntries = 1_000_000

    /// Ids are forgotten within the run.
    var forgets: Bool { retention < Self.longRetention }
    /// Requests may be suppressed, and entries forgotten early.
    var isCapped: Bool { maximumEntries < Self.manyEntries }

    /// Random parameters.
    init(random: inout SeededGenerator) {
        instances = Int(random.number(1...3))
        lanesEach = random.chance(300) ? 2 : 1
        partitions = Int32(random.number(1...3))
        scenes = Int(random.number(5...25))
        usesChannel = random.chance(600)
        // Some runs have no faults: they show errors that need none.
        let isCalm = random.chance(100)
        func rate(_ most: Int64, _ random: inout SeededGenerator) -> Int {
            let drawn = random.chance(250) ? 0 : Int(random.number(0...most))
            return isCalm ? 0 : drawn
        }
        faultRate = rate(40, &random)
        crashRate = rate(400, &random)
        pauseRate = rate(300, &random)
        clockRate = rate(300, &random)
        restartRate = rate(200, &random)
        eraseRate = rate(300, &random)
        compactionRate = rate(500, &random)
        residentEntries = random.chance(500) ? Int(random.number(0...3)) : 1000
        entriesPerPiece = random.chance(500) ? Int(random.number(1...2)) : 1000
        isLong = random.chance(300)
        // There may be requests before the first marker.
        start = .earliest
        if random.chance(200) { retention = random.number(3_600_000...14_400_000) }
        if random.chance(150) { maximumEntries = Int(random.number(1...4)) }
        usesFiles = random.chance(50)
        if random.chance(100) { bytesPerSecond = random.number(20_000...200_000) }
        // Each in few runs, so that they do not hide each other's effects.
        if random.chance(250) { coordinatorLossRate = rate(300, &random) }
        writesEndsLate = random.chance(250) && !isCalm
        resetsOffsets = random.chance(250)
        isBlind = random.chance(200) && !usesChannel
        if random.chance(80) { growth = random.pick(Growth.allCases) }
        growsWhileRunning = random.chance(600)
        // Only with faults: sends that wait for others are late, which undisturbed runs do not permit.
        // From a copy of the generator, so that the other parameters of a seed do not change.
        var aside = random
        if faultRate > 0, aside.chance(250) { concurrentSends = Int(aside.number(1...2)) }
        hasEvents = aside.chance(300)
    }

    /// No random faults: the seed decides only parameters without a visible effect.
    init(partitions: Int32, random: inout SeededGenerator) {
        (instances, scenes, isLong, usesChannel) = (0, 0, false, false)
        (faultRate, crashRate, pauseRate, clockRate) = (0, 0, 0, 0)
        (restartRate, eraseRate, compactionRate) = (0, 0, 0)
        self.partitions = partitions
        lanesEach = Int(random.number(1...2))
        residentEntries = random.chance(500) ? Int(random.number(0...3)) : 1000
        entriesPerPiece = 1000
        start = .refuse
    }
}
