package import NotificationModel

/// The progress of a partition: the value under the key `marker` in each partition of `state`.
package struct StateMarker: Sendable, Hashable {
    /// The marker record's key; every notification's key contains a slash.
    package static let key = Array("marker".utf8)

    /// By input topic, the next offset to read.
    package var offsets: [String: Int64]
    /// When it was written.
    package var wallTime: Timestamp
    /// Number of partitions of the inputs at that time.
    package var partitions: Int32
    /// Version of the time zone data for the planned occurrences.
    package var timeZoneDataVersion: String
    /// By input topic, the first offset whose effects the changelog may not contain yet: a restore reapplies the
    /// records from here up to the offset above, without publishing anything. Topics without such records are missing.
    package var replay: [String: Int64]
    /// By input topic, the offset at which the reapplication ends, if it is before the next one to read: from there on
    /// the changelog contains all effects.
    package var replayEnd: [String: Int64]
    /// By input topic, how often the topic was replaced by a new one, whose offsets restart at 0; topics that never
    /// were are missing.
    package var lives: [String: Int64]
    /// No timer after this instant has fired.
    package var firedThrough: Timestamp?
    /// The changelog's id: created with the partition's first marker and kept in all later ones. It shows whether a
    /// copy of the state belongs to this topic or to a deleted one.
    package var lineage: String?
    /// The applications with location triggers in the partition, sorted: a fix that names none concerns them all. Without
    /// such triggers it is not needed, so older versions may ignore and drop it.
    package var locatedApplications: [String]
    /// Whether recipients' records hold devices or limits in the partition, so that each notification looks for its
    /// recipient's. An older version refuses such records, so it never drops this.
    package var keepsRecipients: Bool
    /// Whether its writer put the keys of notifications into ids. An older version drops it.
    package var hasKeyedIDs: Bool

    /// A marker.
    package init(
        offsets: [String: Int64],
        wallTime: Timestamp,
        partitions: Int32,
        timeZoneDataVersion: String,
        firedThrough: Timestamp? = nil,
        lineage: String? = nil,
        replay: [String: Int64] = [:],
        replayEnd: [String: Int64] = [:],
        lives: [String: Int64] = [:],
        locatedApplications: [String] = [],
        keepsRecipients: Bool = false,
        hasKeyedIDs: Bool = true
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
        self.locatedApplications = locatedApplications
        self.keepsRecipients = keepsRecipients
        self.hasKeyedIDs = hasKeyedIDs
    }
}

extension StateMarker: StatePart {
    private enum Field: FieldName {
        case form, offsets, replay, replayEnd, lives, wallTime, partitions, timeZoneDataVersion, firedThrough, lineage
        case locatedApplications, keepsRecipients, keyedIds
    }

    /// The oldest form that can represent the marker; the marker is written in this form.
    package var form: Int { 1 }

    /// Reads a marker; ignores unknown fields.
    ///
    /// Throws `unsupported-form` for a newer form, `invalid` with the missing or wrong field.
    package init(json: [UInt8]) throws(ModelError) {
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
        var locatedApplications: [String] = []
        var (keepsRecipients, hasKeyedIDs) = (false, false)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
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
            case .locatedApplications:
                locatedApplications.removeAll()
                try scanner.array { scanner, _ throws(ModelError) in
                    locatedApplications.append(try Self.readText(&scanner))
                }
            case .keepsRecipients: keepsRecipients = try scanner.boolean()
            case .keyedIds: hasKeyedIDs = try scanner.boolean()
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
            lives: lives,
            locatedApplications: locatedApplications,
            keepsRecipients: keepsRecipients,
            hasKeyedIDs: hasKeyedIDs
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

    /// Appends the marker's JSON, with topics sorted by name.
    package func write(to out: inout [UInt8]) {
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
        if !locatedApplications.isEmpty { object.member(Field.locatedApplications, locatedApplications, &out) }
        if keepsRecipients { object.member(Field.keepsRecipients, true, &out) }
        if hasKeyedIDs { object.member(Field.keyedIds, true, &out) }
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
    package var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}
