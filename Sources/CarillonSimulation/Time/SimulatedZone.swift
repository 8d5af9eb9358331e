import NotificationModel

/// A time zone whose clock goes forward by an hour and back every 5 hours, so that short runs have many gaps and overlaps.
///
/// It has the name of a real zone: that requests name is looked up in the system's database.
enum SimulatedZone {
    static let name = "Europe/Berlin"
    /// Seconds between two changes, and how many there are: for 120 days.
    private static let period: Int64 = 5 * 3600
    private static let changes: Int64 = 576
    /// The first change, in seconds since 1970.
    private static let start = SimulatedClock.beginning.rawValue / 1000
    /// Seconds east of UTC, from the beginning and after every second change.
    private static let offsets: [Int64] = [3600, 7200]

    /// Seconds east of UTC at an instant.
    static func offset(at instant: Int64) -> Int64 {
        guard instant >= start else { return offsets[0] }
        return offsets[Int(min((instant - start) / period + 1, changes) % 2)]
    }

    /// The versions of its data. Their rules are equal, so that planning again must change nothing.
    static let versions = ["simulated-a", "simulated-b"]

    /// The zones of a run, by version.
    static func zones() throws(TimeZoneError) -> [TimeZones] {
        var zones: [TimeZones] = []
        for version in versions {
            zones.append(try TimeZones(TimeZoneDatabase(version: version, files: [name: file()]), standard: name))
        }
        return zones
    }

    /// The zone as a TZif file of version 2 (RFC 9636).
    private static func file() -> [UInt8] {
        func big<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }
        func header(changes: Int, kinds: Int, characters: Int) -> [UInt8] {
            let counts = [0, 0, 0, changes, kinds, characters].flatMap { big(UInt32($0)) }
            return Array("TZif2".utf8) + Array(repeating: 0, count: 15) + counts
        }
        let names = Array("ONE\u{0}TWO\u{0}".utf8)
        var bytes = header(changes: 0, kinds: 1, characters: 1) + Array(repeating: 0, count: 7)
        bytes += header(changes: Int(changes), kinds: 2, characters: names.count)
        for change in 0..<changes { bytes += big(start + change * period) }
        for change in 0..<changes { bytes.append(UInt8((change + 1) % 2)) }
        for (number, offset) in offsets.enumerated() {
            bytes += big(Int32(offset)) + [UInt8(number), UInt8(4 * number)]
        }
        return bytes + names + Array("\n\n".utf8)
    }
}

/// A calendar trigger of the workload and its occurrences in ``SimulatedZone``, found by looking at each day. It shares no code with
/// the model.
struct SimulatedCalendar {
    /// nil for each hour.
    var hour: Int64?
    var minute: Int64
    var gap: GapPolicy?
    var overlap: OverlapPolicy?
    /// It names no zone. All devices that name one are in the same, which is also the standard zone.
    var floats = false

    /// Days for which occurrences are known: longer than any run.
    private static let days: Int64 = 120

    /// The occurrences after an instant, ascending; not more than one for a one-shot.
    func occurrences(after anchor: Timestamp, repeats: Bool) -> [Timestamp] {
        let day = anchor.rawValue / 86_400_000
        var found: Set<Int64> = []
        for date in day - 2...day + (repeats ? Self.days : 4) {
            for hour in hour.map({ $0...$0 }) ?? 0...23 {
                found.formUnion(instants(of: date * 86_400 + hour * 3600 + minute * 60))
            }
        }
        let all = found.map { Timestamp(rawValue: $0 * 1000) }.filter { $0 > anchor }.sorted()
        return repeats ? all : Array(all.prefix(1))
    }

    /// The instants at which the clock shows a time, after the policies.
    private func instants(of wall: Int64) -> [Int64] {
        // By summer time first.
        let shown = [wall - 7200, wall - 3600].filter { $0 + SimulatedZone.offset(at: $0) == wall }
        guard hour != nil else { return shown }
        switch shown.count {
        case 0:
            switch gap ?? .nextTime {
            case .nextTime: return [wall - 3600]
            case .previous: return [wall - 7200]
            case .skip: return []
            }
        case 1: return shown
        default:
            switch overlap ?? .first {
            case .first: return [shown[0]]
            case .last: return [shown[1]]
            case .both: return shown
            }
        }
    }

    /// The members of the trigger in JSON, without its type.
    var json: String {
        var members = ["\"dateComponents\":{\(hour.map { "\"hour\":\($0)," } ?? "")\"minute\":\(minute)}"]
        if !floats { members.append("\"timeZone\":\"\(SimulatedZone.name)\"") }
        if let gap { members.append("\"gap\":\"\(gap.rawValue)\"") }
        if let overlap { members.append("\"overlap\":\"\(overlap.rawValue)\"") }
        return members.joined(separator: ",")
    }
}
