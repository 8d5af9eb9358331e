import NotificationConsumer
import ServiceSupport

/// What is decided about a run before it begins.
struct Scenario {
    var instances: Int
    var lanesEach: Int
    var partitions: Int32
    /// Scenes of the workload, each of a few records.
    var scenes: Int
    var usesChannel: Bool
    /// In a thousand calls that talk to the broker.
    var faultRate: Int
    /// In a thousand scenes each.
    var crashRate: Int
    var pauseRate: Int
    var clockRate: Int
    var restartRate: Int
    var eraseRate: Int
    var compactionRate: Int
    /// Of processes that the group does not hear from for a while, and which work on.
    var unheardRate = 0
    /// Entries that a partition keeps in memory although nothing of theirs is near.
    var residentEntries: Int
    /// Entries that a removal of everything a recipient has changes at a time.
    var entriesPerPiece: Int
    /// Milliseconds for which closed and delivered ones are remembered.
    var retention = Self.longRetention
    /// Entries that a partition may have.
    var maximumEntries = Self.manyEntries
    /// What the broker takes of all producers; nil for any number.
    var bytesPerSecond: Int64?
    /// The ends of some transactions are written seconds after they were decided.
    var writesEndsLate = false
    /// Somebody sets the group's offsets while nobody runs: they only show lag.
    var resetsOffsets = false
    /// No lane notices by itself that it stood still: only the fence keeps what it does then from counting.
    var isBlind = false
    /// Partitions are added.
    var growth: Growth?
    var growsWhileRunning = false
    /// Sends that a lane's channel has at one time.
    var concurrentSends = 500
    /// The stores are files.
    var usesFiles = false
    /// Business events come as well, of which the ingest makes requests.
    var hasEvents = false
    /// Gaps of weeks and months between scenes.
    var isLong: Bool
    /// Without a marker.
    var start: ConsumerServiceConfiguration.Start

    /// Which topic gets more partitions first; in the end both have as many.
    enum Growth: CaseIterable {
        case requests, state, both
    }

    /// No owner is left behind that wakes up later.
    var isUndisturbed: Bool { instances > 0 && faultRate == 0 && pauseRate == 0 && unheardRate == 0 }

    /// As long as a simulation may take.
    static let longRetention: Int64 = 365 * 86_400_000
    static let manyEntries = 1_000_000

    /// Ids are forgotten within the run.
    var forgets: Bool { retention < Self.longRetention }
    /// Requests may be refused, and what is remembered forgotten early.
    var isCapped: Bool { maximumEntries < Self.manyEntries }

    /// What a seed decides.
    init(random: inout SeededGenerator) {
        instances = Int(random.number(1...3))
        lanesEach = random.chance(300) ? 2 : 1
        partitions = Int32(random.number(1...3))
        scenes = Int(random.number(5...25))
        usesChannel = random.chance(600)
        // Some runs are calm, so that what goes wrong by itself shows.
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
        // Requests may be there before the first marker.
        start = .earliest
        if random.chance(200) { retention = random.number(3_600_000...14_400_000) }
        if random.chance(150) { maximumEntries = Int(random.number(1...4)) }
        usesFiles = random.chance(50)
        if random.chance(100) { bytesPerSecond = random.number(20_000...200_000) }
        // Each in few runs, so that they do not hide one another.
        if random.chance(250) { unheardRate = rate(300, &random) }
        writesEndsLate = random.chance(250) && !isCalm
        resetsOffsets = random.chance(250)
        isBlind = random.chance(200) && !usesChannel
        if random.chance(80) { growth = random.pick(Growth.allCases) }
        growsWhileRunning = random.chance(600)
        // What waits for another one is late, which is checked where nothing goes wrong.
        // Drawn aside, so that the other draws of a seed stay as they were.
        var aside = random
        if faultRate > 0, aside.chance(250) { concurrentSends = Int(aside.number(1...2)) }
        hasEvents = aside.chance(300)
    }

    /// Nothing happens by itself: a seed decides what nobody should notice.
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
