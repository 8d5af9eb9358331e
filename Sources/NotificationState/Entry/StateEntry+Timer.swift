package import NotificationModel

extension StateEntry {
    /// What a pending notification waits for.
    package enum Timer: Sendable, Hashable {
        /// The end of a collapse window: newer requests replace the content, the end stays.
        case held
        /// The end of a send of the same identifier that is under way.
        case turn
        /// The end of the digest's window; the recipient's record has its group. The occurrence is the nominal instant of the
        /// trigger that was due; nil without one.
        case digest(occurrence: Timestamp?)
        /// The next occurrence of a schedule.
        case scheduled(Schedule, occurrence: Timestamp)
        /// A device that crosses the boundary of a region. Indirect, so that a timer stays as small as the others.
        indirect case region(RegionWait)
    }

    /// The wait for the next crossing of a region's boundary. The sides on which the devices are, are in the recipient's
    /// record: a fix reads no entry before it crosses a boundary.
    package struct RegionWait: Sendable, Hashable {
        /// The region, and the directions that count.
        package var trigger: LocationTrigger
        /// The nominal instant of the last crossing that counted; nil before the first.
        package var last: Timestamp?
        /// That crossing is not sent yet: another send of the identifier is under way, or the backlog is being read.
        package var isCrossed: Bool

        /// A wait.
        package init(trigger: LocationTrigger, last: Timestamp? = nil, isCrossed: Bool = false) {
            (self.trigger, self.last, self.isCrossed) = (trigger, last, isCrossed)
        }
    }
}

extension StateEntry.Timer: StatePart, JSONWritable {
    var form: Int {
        switch self {
        case .held, .turn: 1
        case .digest: StateForm.devices
        case .scheduled(.interval, _): 1
        case .scheduled(.calendar(let schedule), _):
            schedule.trigger.dateComponents.hasLists ? StateForm.calendarLists : StateForm.calendar
        case .region: StateForm.location
        }
    }

    /// A timer without fields is a word, one with fields is an object.
    private enum Word: FieldName {
        case held, turn, digest
    }

    /// The fields of a timer's object: an interval with its policies, or a calendar trigger with the offset from UTC that
    /// its occurrence was planned with, and whether the trigger named no zone, both with an anchor and an occurrence; or a
    /// location trigger with the last crossing.
    private enum ScheduleField: FieldName {
        case interval, anchor, occurrence, repeats, misfire, jitter, trigger, offset, floats, last, crossed, digest
    }

    /// The parts of a schedule before its kind is known.
    private struct Parts {
        var (interval, trigger, region): (Int64?, CalendarTrigger?, LocationTrigger?)
        var (last, isCrossed): (Timestamp?, Bool) = (nil, false)
        var (anchor, occurrence): (Timestamp?, Timestamp?)
        var (repeats, misfire, jitter): (Bool, MisfirePolicy?, Int64) = (false, nil, 0)
        var offset: Int?
        var floats = false
        var isDigest = false
    }

    /// - Parameter zones: the zones of calendar triggers. One that is not in it, or with no zones any, has the offset that
    ///   the occurrence was planned with.
    init(_ scanner: inout JSONScanner, zones: TimeZoneDatabase?) throws(ModelError) {
        guard scanner.peek() == 0x22 else {
            self = try Self.schedule(&scanner, zones)
            return
        }
        let text = try scanner.string()
        switch try scanner.field(text, of: Word.self) {
        case .held: self = .held
        case .turn: self = .turn
        case .digest: self = .digest(occurrence: nil)
        case nil: throw scanner.value("must be held, turn, digest or a schedule")
        }
    }

    /// The state of what waits for the timer that is scanned; builds nothing of it.
    static func openState(_ scanner: inout JSONScanner) throws(ModelError) -> OpenState {
        guard scanner.peek() == 0x22 else {
            var (isDigest, isRegion) = (false, false)
            try scanner.object(of: ScheduleField.self, from: .state) { scanner, field throws(ModelError) in
                switch field {
                case .digest: isDigest = try scanner.boolean()
                case .trigger: isRegion = try isRegionTrigger(&scanner)
                default: try scanner.skipValue()
                }
            }
            return isDigest ? .digest : isRegion ? .region : .scheduled
        }
        let text = try scanner.string()
        switch try scanner.field(text, of: Word.self) {
        case .held: return .held
        case .turn: return .queued
        case .digest: return .digest
        case nil: throw scanner.value("must be held, turn, digest or a schedule")
        }
    }

    private static func isRegionTrigger(_ scanner: inout JSONScanner) throws(ModelError) -> Bool {
        enum Field: FieldName { case region }
        return try !scanner.object(of: Field.self, from: .state) { scanner, _ throws(ModelError) in
            try scanner.skipValue()
        }.isEmpty
    }

    private static func schedule(
        _ scanner: inout JSONScanner,
        _ zones: TimeZoneDatabase?
    ) throws(ModelError) -> Self {
        var parts = Parts()
        try scanner.object(of: ScheduleField.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .interval: parts.interval = try scanner.integer(in: 1...Int64.max)
            case .anchor: parts.anchor = try scanner.timestamp()
            case .occurrence: parts.occurrence = try scanner.timestamp()
            case .repeats: parts.repeats = try scanner.boolean()
            case .misfire: parts.misfire = try scanner.choice(MisfirePolicy.self)
            case .jitter: parts.jitter = try scanner.integer(in: 0...Int64.max)
            case .trigger:
                switch try scanner.trigger(.state) {
                case .calendar(let trigger): parts.trigger = trigger
                case .location(let trigger): parts.region = trigger
                case .push, .timeInterval: throw scanner.value("must be a calendar or location trigger")
                }
            case .offset: parts.offset = Int(try scanner.integer(in: LocalTimeKind.offsets))
            case .floats: parts.floats = try scanner.boolean()
            case .last: parts.last = try scanner.timestamp()
            case .crossed: parts.isCrossed = try scanner.boolean()
            case .digest: parts.isDigest = try scanner.boolean()
            }
        }
        if parts.isDigest { return .digest(occurrence: parts.occurrence) }
        if let trigger = parts.trigger { return try calendar(trigger, parts, scanner, zones) }
        if let trigger = parts.region {
            return .region(.init(trigger: trigger, last: parts.last, isCrossed: parts.isCrossed))
        }
        let schedule = IntervalSchedule(
            interval: try scanner.required(parts.interval, ScheduleField.interval),
            anchor: try scanner.required(parts.anchor, ScheduleField.anchor),
            repeats: parts.repeats,
            misfire: parts.misfire,
            jitter: parts.jitter
        )
        let occurrence = try scanner.required(parts.occurrence, ScheduleField.occurrence)
        return .scheduled(.interval(schedule), occurrence: occurrence)
    }

    private static func calendar(
        _ trigger: CalendarTrigger,
        _ parts: Parts,
        _ scanner: JSONScanner,
        _ zones: TimeZoneDatabase?
    ) throws(ModelError) -> Self {
        let occurrence = try scanner.required(parts.occurrence, ScheduleField.occurrence)
        let offset = try scanner.required(parts.offset, ScheduleField.offset)
        guard let name = trigger.timeZone else { throw scanner.missing("trigger.timeZone") }
        var schedule = try CalendarSchedule(
            restoring: trigger,
            anchor: try scanner.required(parts.anchor, ScheduleField.anchor),
            zone: (try? zones?.rules(named: name)) ?? TimeZoneRules(substituteFor: name, offset: offset),
            occurrence: occurrence,
            offset: offset
        )
        schedule.floats = parts.floats
        return .scheduled(.calendar(schedule), occurrence: occurrence)
    }

    package func writeJSON(to out: inout [UInt8]) {
        switch self {
        case .held: Self.write(.held, to: &out)
        case .turn: Self.write(.turn, to: &out)
        case .digest(nil): Self.write(.digest, to: &out)
        case .digest(let occurrence):
            var object = JSONObjectWriter()
            object.member(ScheduleField.digest, true, &out)
            object.member(ScheduleField.occurrence, occurrence, &out)
            object.end(&out)
        case .scheduled(.interval(let schedule), let occurrence):
            var object = JSONObjectWriter()
            object.member(ScheduleField.interval, schedule.interval, &out)
            object.member(ScheduleField.anchor, schedule.anchor, &out)
            object.member(ScheduleField.occurrence, occurrence, &out)
            if schedule.repeats { object.member(ScheduleField.repeats, true, &out) }
            object.member(ScheduleField.misfire, schedule.misfire?.rawValue, &out)
            if schedule.jitter > 0 { object.member(ScheduleField.jitter, schedule.jitter, &out) }
            object.end(&out)
        case .scheduled(.calendar(let schedule), let occurrence):
            var object = JSONObjectWriter()
            object.begin(ScheduleField.trigger, &out)
            NotificationTrigger.calendar(schedule.trigger).write(to: &out)
            object.member(ScheduleField.anchor, schedule.anchor, &out)
            object.member(ScheduleField.occurrence, occurrence, &out)
            object.member(ScheduleField.offset, Int64(schedule.offset(of: occurrence)), &out)
            // An older version keeps it in the zone that it is planned in.
            if schedule.floats { object.member(ScheduleField.floats, true, &out) }
            object.end(&out)
        case .region(let wait):
            var object = JSONObjectWriter()
            object.begin(ScheduleField.trigger, &out)
            NotificationTrigger.location(wait.trigger).write(to: &out)
            object.member(ScheduleField.last, wait.last, &out)
            if wait.isCrossed { object.member(ScheduleField.crossed, true, &out) }
            object.end(&out)
        }
    }

    private static func write(_ word: Word, to out: inout [UInt8]) {
        JSONWriter.append(string: word.rawValue.bytes, to: &out)
    }
}
