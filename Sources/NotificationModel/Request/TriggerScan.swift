private enum TriggerField: FieldName, CaseIterable {
    case type, timeInterval, repeats, misfire, jitter, dateComponents, timeZone, notBefore, gap, overlap, missingDay
    case region, notifyOnEntry, notifyOnExit

    var label: String { rawValue.text }
}

private enum TriggerType {
    case push, timeInterval, calendar, location

    /// Whether a trigger of this type has the field.
    func knows(_ field: TriggerField) -> Bool {
        switch (self, field) {
        case (_, .type): true
        case (.timeInterval, .timeInterval), (.timeInterval, .repeats), (.timeInterval, .misfire),
            (.timeInterval, .jitter):
            true
        case (.calendar, .dateComponents), (.calendar, .timeZone), (.calendar, .repeats), (.calendar, .notBefore),
            (.calendar, .gap), (.calendar, .overlap), (.calendar, .missingDay), (.calendar, .misfire),
            (.calendar, .jitter):
            true
        case (.location, .region), (.location, .notifyOnEntry), (.location, .notifyOnExit), (.location, .repeats):
            true
        default: false
        }
    }
}

/// The parts of a trigger before its type is known: `type` need not come first.
private struct TriggerParts {
    var seen = SeenFields<TriggerField>()
    var type: TriggerType?
    var unknownType: String?
    var unknownField: String?
    var fault: ModelError?
    var timeInterval = 0.0
    var repeats = false
    var misfire: MisfirePolicy?
    var jitter: Double?
    var components: CalendarComponents?
    var timeZone: String?
    var notBefore: Timestamp?
    var gap: GapPolicy?
    var overlap: OverlapPolicy?
    var missingDay: MissingDayPolicy?
    var region: CircularRegion?
    var onEntry = false
    var onExit = false
}

extension JSONScanner {
    /// Scans a trigger.
    package mutating func trigger(_ origin: JSONOrigin = .body) throws(ModelError) -> NotificationTrigger {
        var parts = TriggerParts()
        let seen = try object(
            of: TriggerField.self,
            { scanner, name throws(ModelError) in
                // An unknown type explains unknown fields, so the type decides which error to report.
                if parts.unknownField == nil, origin == .body { parts.unknownField = scanner.label(name) }
                try scanner.skipValue()
            }
        ) { scanner, field throws(ModelError) in
            let start = (position: scanner.position, depth: scanner.depth)
            do throws(ModelError) {
                try scanner.triggerMember(field, origin, &parts)
            } catch {
                // A grammar error ends the scan; an invalid value waits for the type, which may explain it.
                guard error.field != nil else { throw error }
                if parts.fault == nil { parts.fault = error.inside(field.label) }
                (scanner.position, scanner.depth) = start
                try scanner.skipValue()
            }
        }
        parts.seen = seen
        return try trigger(from: parts)
    }

    private mutating func triggerMember(
        _ field: TriggerField,
        _ origin: JSONOrigin,
        _ parts: inout TriggerParts
    ) throws(ModelError) {
        switch field {
        case .type: try triggerType(&parts)
        case .timeInterval: parts.timeInterval = try decimal(in: 0...ModelLimits.timeInterval)
        case .repeats: parts.repeats = try boolean()
        case .misfire: parts.misfire = try choice(MisfirePolicy.self)
        case .jitter: parts.jitter = try decimal(in: 0...ModelLimits.jitter)
        case .dateComponents: parts.components = try calendarComponents(origin)
        case .timeZone: parts.timeZone = try timeZone(origin)
        case .notBefore: parts.notBefore = try timestamp()
        case .gap: parts.gap = try choice(GapPolicy.self)
        case .overlap: parts.overlap = try choice(OverlapPolicy.self)
        case .missingDay: parts.missingDay = try choice(MissingDayPolicy.self)
        case .region: parts.region = try region(origin)
        case .notifyOnEntry: parts.onEntry = try boolean()
        case .notifyOnExit: parts.onExit = try boolean()
        }
    }

    private mutating func triggerType(_ parts: inout TriggerParts) throws(ModelError) {
        let text = try string()
        let type = try field(text) { name -> TriggerType? in
            switch name {
            case "timeInterval": .timeInterval
            case "push": .push
            case "calendar": .calendar
            case "location": .location
            default: nil
            }
        }
        if let type { parts.type = type } else { parts.unknownType = label(text) }
    }

    private func trigger(from parts: TriggerParts) throws(ModelError) -> NotificationTrigger {
        if let unknown = parts.unknownType {
            throw ModelError(
                .unknownTrigger,
                field: "type",
                "\"\(unknown)\" is not a trigger type: use push, timeInterval, calendar or location"
            )
        }
        if let fault = parts.fault { throw fault }
        guard let type = parts.type else { throw missing("type") }
        if let field = parts.unknownField {
            throw ModelError(.unknownField, field: field, "is not a field of a trigger")
        }
        for field in TriggerField.allCases where parts.seen.contains(field) && !type.knows(field) {
            throw ModelError(.unknownField, field: field.label, "is not a field of this trigger type")
        }
        switch type {
        case .push:
            return .push
        case .timeInterval:
            guard parts.seen.contains(TriggerField.timeInterval) else { throw missing("timeInterval") }
            guard parts.timeInterval > 0 else {
                throw ModelError(.invalid, field: "timeInterval", "must be more than 0 seconds")
            }
            guard !parts.repeats || parts.timeInterval >= ModelLimits.repeatingTimeInterval else {
                throw ModelError(
                    .invalid,
                    field: "timeInterval",
                    "must be at least \(Int(ModelLimits.repeatingTimeInterval)) seconds when it repeats"
                )
            }
            return .timeInterval(
                TimeIntervalTrigger(
                    timeInterval: parts.timeInterval,
                    repeats: parts.repeats,
                    misfire: parts.misfire,
                    jitter: parts.jitter
                )
            )
        case .calendar:
            guard let components = parts.components else { throw missing("dateComponents") }
            let trigger = CalendarTrigger(
                dateComponents: components,
                timeZone: parts.timeZone,
                repeats: parts.repeats,
                notBefore: parts.notBefore,
                gap: parts.gap,
                overlap: parts.overlap,
                missingDay: parts.missingDay,
                misfire: parts.misfire,
                jitter: parts.jitter
            )
            try CalendarSchedule.check(trigger)
            return .calendar(trigger)
        case .location:
            guard let region = parts.region else { throw missing("region") }
            guard parts.onEntry || parts.onExit else {
                throw ModelError(.invalid, field: "notifyOnEntry", "notifyOnEntry or notifyOnExit must be true")
            }
            return .location(
                LocationTrigger(
                    region: region,
                    notifyOnEntry: parts.onEntry,
                    notifyOnExit: parts.onExit,
                    repeats: parts.repeats
                )
            )
        }
    }
}
