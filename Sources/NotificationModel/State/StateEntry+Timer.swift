extension StateEntry {
    /// What a pending notification waits for.
    public enum Timer: Sendable, Hashable {
        /// The end of a collapse window: newer requests replace the content, the end stays.
        case held
        /// The end of a send of the same identifier that is under way.
        case turn
        /// The next occurrence of a schedule.
        case scheduled(Schedule, occurrence: Timestamp)
    }
}

extension StateEntry.Timer: StatePart, JSONWritable {
    var form: Int {
        switch self {
        case .held, .turn: 1
        case .scheduled(.interval, _): 1
        }
    }

    /// A timer without fields is a word, one with fields is an object.
    private enum Word: FieldName {
        case held, turn
    }

    /// The fields of an interval's object.
    private enum IntervalField: FieldName {
        case interval, anchor, occurrence, repeats, misfire, jitter
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        guard scanner.peek() == 0x22 else {
            self = try Self.interval(&scanner)
            return
        }
        let text = try scanner.string()
        switch try scanner.field(text, of: Word.self) {
        case .held: self = .held
        case .turn: self = .turn
        case nil: throw scanner.value("must be held, turn or an interval")
        }
    }

    private static func interval(_ scanner: inout JSONScanner) throws(ModelError) -> Self {
        var (interval, anchor, occurrence): (Int64?, Timestamp?, Timestamp?)
        var (repeats, misfire, jitter): (Bool, MisfirePolicy?, Int64) = (false, nil, 0)
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: IntervalField.self) {
            case .interval: interval = try scanner.integer(in: 1...Int64.max)
            case .anchor: anchor = try scanner.timestamp()
            case .occurrence: occurrence = try scanner.timestamp()
            case .repeats: repeats = try scanner.boolean()
            case .misfire: misfire = try scanner.choice(MisfirePolicy.self)
            case .jitter: jitter = try scanner.integer(in: 0...Int64.max)
            case nil: try scanner.skipValue()
            }
        }
        let schedule = IntervalSchedule(
            interval: try scanner.required(interval, IntervalField.interval),
            anchor: try scanner.required(anchor, IntervalField.anchor),
            repeats: repeats,
            misfire: misfire,
            jitter: jitter
        )
        return .scheduled(.interval(schedule), occurrence: try scanner.required(occurrence, IntervalField.occurrence))
    }

    func writeJSON(to out: inout [UInt8]) {
        switch self {
        case .held: Self.write(.held, to: &out)
        case .turn: Self.write(.turn, to: &out)
        case .scheduled(.interval(let schedule), let occurrence):
            var object = JSONObjectWriter()
            object.member(IntervalField.interval, schedule.interval, &out)
            object.member(IntervalField.anchor, schedule.anchor, &out)
            object.member(IntervalField.occurrence, occurrence, &out)
            if schedule.repeats { object.member(IntervalField.repeats, true, &out) }
            object.member(IntervalField.misfire, schedule.misfire?.rawValue, &out)
            if schedule.jitter > 0 { object.member(IntervalField.jitter, schedule.jitter, &out) }
            object.end(&out)
        }
    }

    private static func write(_ word: Word, to out: inout [UInt8]) {
        JSONWriter.append(string: word.rawValue.bytes, to: &out)
    }
}
