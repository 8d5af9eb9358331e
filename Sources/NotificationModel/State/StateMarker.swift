/// How far the worker of a partition has come: the value under the key `marker` of each partition of `state`.
public struct StateMarker: Sendable, Hashable {
    /// Its record's key; no notification's key is without a slash.
    public static let key = Array("marker".utf8)
    /// The form this version writes.
    public static let currentForm = 1

    /// Version of the entries' form; a reader refuses a newer one.
    public var form: Int
    /// By input topic, the offset to read next.
    public var offsets: [String: Int64]
    /// When it was written.
    public var wallTime: Timestamp
    /// Partitions of the inputs when it was written.
    public var partitions: Int32
    /// Version of the time zone data that pending occurrences were planned with.
    public var timeZoneDataVersion: String
    /// By input topic, from where on records may have finished something that the changelog does not tell yet: they are read
    /// again up to the offset above, and nothing of them is published. A topic that is missing has none.
    public var replay: [String: Int64]
    /// By input topic, the offset at which that reading ends, where it is before the one to read next: from there on the
    /// changelog tells everything.
    public var replayEnd: [String: Int64]
    /// By input topic, how often it was found to have begun again, so that its offsets count from the start; a topic that is
    /// missing never was.
    public var lives: [String: Int64]
    /// No timer beyond this instant has fired.
    public var firedThrough: Timestamp?
    /// Names the changelog: made with the partition's first marker, the same in all that follow, so that a copy of the state
    /// is known to be of this topic and not of one that was deleted.
    public var lineage: String?

    /// A marker.
    public init(
        form: Int = StateMarker.currentForm,
        offsets: [String: Int64],
        wallTime: Timestamp,
        partitions: Int32,
        timeZoneDataVersion: String,
        firedThrough: Timestamp? = nil,
        lineage: String? = nil,
        replay: [String: Int64] = [:],
        replayEnd: [String: Int64] = [:],
        lives: [String: Int64] = [:]
    ) {
        self.form = form
        self.offsets = offsets
        self.wallTime = wallTime
        self.partitions = partitions
        self.timeZoneDataVersion = timeZoneDataVersion
        self.firedThrough = firedThrough
        self.lineage = lineage
        self.replay = replay
        self.replayEnd = replayEnd
        self.lives = lives
    }

    /// Reads a marker; unknown fields are passed over.
    ///
    /// Throws `unsupported-form` when it is of a newer form, `invalid` with the field when something is missing or wrong.
    public init(json: [UInt8]) throws(ModelError) {
        let value = try JSONValue.parse(json)
        func wrong(_ field: String, _ expected: String) -> ModelError {
            ModelError(.invalid, field: field, "must be \(expected)")
        }
        guard let form = value["form"]?.integerValue, form >= 1 else { throw wrong("form", "an integer from 1") }
        guard form <= Int64(Self.currentForm) else {
            throw ModelError(
                .unsupportedForm,
                field: "form",
                "the marker has form \(form), this version reads up to \(Self.currentForm): upgrade before you start"
            )
        }
        func readOffsets(_ field: String, _ value: JSONValue) throws(ModelError) -> [String: Int64] {
            guard let members = value.objectValue else { throw wrong(field, "an object") }
            var offsets: [String: Int64] = [:]
            for member in members {
                guard let offset = member.value.integerValue, offset >= 0 else {
                    throw wrong("\(field).\(member.name)", "an offset")
                }
                offsets[member.name] = offset
            }
            return offsets
        }
        let offsets = try readOffsets("offsets", value["offsets"] ?? .null)
        func readOptional(_ field: String) throws(ModelError) -> [String: Int64] {
            guard let value = value[field] else { return [:] }
            return try readOffsets(field, value)
        }
        let (replay, replayEnd) = (try readOptional("replay"), try readOptional("replayEnd"))
        let lives = try readOptional("lives")
        guard let text = value["wallTime"]?.stringValue, let wallTime = Timestamp(rfc3339: text) else {
            throw wrong("wallTime", "an RFC 3339 date and time")
        }
        guard let number = value["partitions"]?.integerValue, let partitions = Int32(exactly: number), partitions > 0
        else { throw wrong("partitions", "an integer from 1") }
        guard let zones = value["timeZoneDataVersion"]?.stringValue else {
            throw wrong("timeZoneDataVersion", "a string")
        }
        var firedThrough: Timestamp?
        if let fired = value["firedThrough"] {
            guard let text = fired.stringValue, let read = Timestamp(rfc3339: text) else {
                throw wrong("firedThrough", "an RFC 3339 date and time")
            }
            firedThrough = read
        }
        self.init(
            form: Int(form),
            offsets: offsets,
            wallTime: wallTime,
            partitions: partitions,
            timeZoneDataVersion: zones,
            firedThrough: firedThrough,
            lineage: value["lineage"]?.stringValue,
            replay: replay,
            replayEnd: replayEnd,
            lives: lives
        )
    }

    /// Appends the marker's JSON, topics in order of their names.
    public func write(to out: inout [UInt8]) {
        JSONWriter.append("{\"form\":", to: &out)
        JSONWriter.append(number: form, to: &out)
        JSONWriter.append(",\"offsets\":", to: &out)
        Self.write(offsets, to: &out)
        if !replay.isEmpty {
            JSONWriter.append(",\"replay\":", to: &out)
            Self.write(replay, to: &out)
        }
        if !replayEnd.isEmpty {
            JSONWriter.append(",\"replayEnd\":", to: &out)
            Self.write(replayEnd, to: &out)
        }
        if !lives.isEmpty {
            JSONWriter.append(",\"lives\":", to: &out)
            Self.write(lives, to: &out)
        }
        JSONWriter.append(",\"wallTime\":", to: &out)
        JSONWriter.append(timestamp: wallTime, to: &out)
        JSONWriter.append(",\"partitions\":", to: &out)
        JSONWriter.append(number: partitions, to: &out)
        JSONWriter.append(",\"timeZoneDataVersion\":", to: &out)
        JSONWriter.append(string: timeZoneDataVersion, to: &out)
        if let firedThrough {
            JSONWriter.append(",\"firedThrough\":", to: &out)
            JSONWriter.append(timestamp: firedThrough, to: &out)
        }
        if let lineage {
            JSONWriter.append(",\"lineage\":", to: &out)
            JSONWriter.append(string: lineage, to: &out)
        }
        out.append(0x7D)
    }

    private static func write(_ offsets: [String: Int64], to out: inout [UInt8]) {
        out.append(0x7B)
        for (index, entry) in offsets.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { out.append(0x2C) }
            JSONWriter.append(string: entry.key, to: &out)
            out.append(0x3A)
            JSONWriter.append(number: entry.value, to: &out)
        }
        out.append(0x7D)
    }

    /// The marker's JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}
