/// How far a partition was processed: the value under the key `marker` in each partition of `state`.
public struct StateMarker: Sendable, Hashable {
    /// Its record's key; every notification's key has a slash.
    public static let key = Array("marker".utf8)

    /// By input topic, the offset to read next.
    public var offsets: [String: Int64]
    /// When it was written.
    public var wallTime: Timestamp
    /// Partitions of the inputs when it was written.
    public var partitions: Int32
    /// Version of the time zone data that pending occurrences were planned with.
    public var timeZoneDataVersion: String
    /// By input topic, the offset from which records may have effects that the changelog does not hold yet: they are read
    /// again up to the offset above, without publishing anything. A topic that is missing has none.
    public var replay: [String: Int64]
    /// By input topic, the offset at which that reading ends, where it is before the one to read next: from there on the
    /// changelog holds all effects.
    public var replayEnd: [String: Int64]
    /// By input topic, how often it was found to be a new one, whose offsets count from the start; a topic that is missing
    /// never was.
    public var lives: [String: Int64]
    /// No timer beyond this instant has fired.
    public var firedThrough: Timestamp?
    /// The changelog's id: made with the partition's first marker, the same in all that follow. By it a copy of the state is
    /// known to be of this topic and not of one that was deleted.
    public var lineage: String?

    /// A marker.
    public init(
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
}

extension StateMarker: StatePart {
    private enum Field: FieldName {
        case form, offsets, replay, replayEnd, lives, wallTime, partitions, timeZoneDataVersion, firedThrough, lineage
    }

    /// The oldest form that can say what the marker holds; it is written in that one.
    public var form: Int { 1 }

    /// Reads a marker; unknown fields are passed over.
    ///
    /// Throws `unsupported-form` when it is of a newer form, `invalid` with the field when something is missing or wrong.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try StateMarker(&scanner) }
        }
    }

    private init(_ scanner: inout JSONScanner) throws(ModelError) {
        var form: Int64?
        var offsets: [String: Int64]?
        var (replay, replayEnd, lives): ([String: Int64], [String: Int64], [String: Int64]) = ([:], [:], [:])
        var (wallTime, firedThrough): (Timestamp?, Timestamp?)
        var partitions: Int32?
        var (timeZoneDataVersion, lineage): (String?, String?)
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .form: form = try StateForm.read(&scanner, of: "marker")
            case .offsets: offsets = try Self.readOffsets(&scanner)
            case .replay: replay = try Self.readOffsets(&scanner)
            case .replayEnd: replayEnd = try Self.readOffsets(&scanner)
            case .lives: lives = try Self.readOffsets(&scanner)
            case .wallTime: wallTime = try scanner.timestamp()
            case .partitions: partitions = Int32(try scanner.integer(in: 1...Int64(Int32.max)))
            case .timeZoneDataVersion: timeZoneDataVersion = try Self.readText(&scanner)
            case .firedThrough: firedThrough = try scanner.timestamp()
            case .lineage: lineage = try Self.readText(&scanner)
            case nil: try scanner.skipValue()
            }
        }
        _ = try scanner.required(form, Field.form)
        self.init(
            offsets: try scanner.required(offsets, Field.offsets),
            wallTime: try scanner.required(wallTime, Field.wallTime),
            partitions: try scanner.required(partitions, Field.partitions),
            timeZoneDataVersion: try scanner.required(timeZoneDataVersion, Field.timeZoneDataVersion),
            firedThrough: firedThrough,
            lineage: lineage,
            replay: replay,
            replayEnd: replayEnd,
            lives: lives
        )
    }

    private static func readText(_ scanner: inout JSONScanner) throws(ModelError) -> String {
        scanner.materialise(try scanner.string())
    }

    private static func readOffsets(_ scanner: inout JSONScanner) throws(ModelError) -> [String: Int64] {
        var offsets: [String: Int64] = [:]
        try scanner.object { scanner, topic throws(ModelError) in
            offsets[scanner.materialise(topic)] = try scanner.integer(in: 0...Int64.max)
        }
        return offsets
    }

    /// Appends the marker's JSON, topics in order of their names.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.form, Int64(form), &out)
        Self.write(.offsets, offsets, &object, &out)
        if !replay.isEmpty { Self.write(.replay, replay, &object, &out) }
        if !replayEnd.isEmpty { Self.write(.replayEnd, replayEnd, &object, &out) }
        if !lives.isEmpty { Self.write(.lives, lives, &object, &out) }
        object.member(Field.wallTime, wallTime, &out)
        object.member(Field.partitions, Int64(partitions), &out)
        object.member(Field.timeZoneDataVersion, timeZoneDataVersion, &out)
        object.member(Field.firedThrough, firedThrough, &out)
        object.member(Field.lineage, lineage, &out)
        object.end(&out)
    }

    private static func write(
        _ field: Field,
        _ offsets: [String: Int64],
        _ object: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) {
        object.begin(field, &out)
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
