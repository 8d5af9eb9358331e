import NotificationDelivery
import NotificationModel
import NotificationState
import TestSupport

/// Entries and markers of every form, the same for the same seed.
enum RandomState {
    static func entry(using generator: inout SeededGenerator) throws -> StateEntry {
        var entry = StateEntry()
        entry.touched = instant(&generator)
        entry.applied[.requests].offset = Int64.random(in: -1...Int64.max, using: &generator)
        if chance(&generator) { entry.applied[.requests].life = Int64.random(in: 0...9, using: &generator) }
        if chance(&generator) { entry.applied[.signals].offset = Int64.random(in: -1...Int64.max, using: &generator) }
        if chance(&generator) { entry.pending = try pending(&generator) }
        if chance(&generator) { try send(in: &entry, &generator) }
        if chance(&generator) {
            entry.delivered = .init(
                requestID: try id(&generator),
                occurrence: maybe(&generator, instant),
                at: instant(&generator),
                channel: channel(&generator)
            )
        }
        if chance(&generator) { entry.version = .init(number: count(&generator), by: try id(&generator)) }
        if chance(&generator) { entry.known = try known(&generator) }
        return entry
    }

    static func recipient(using generator: inout SeededGenerator) throws -> RecipientRecord {
        var record = RecipientRecord()
        record.touched = instant(&generator)
        record.applied[.requests].offset = Int64.random(in: -1...Int64.max, using: &generator)
        if chance(&generator) { record.applied[.requests].life = Int64.random(in: 0...9, using: &generator) }
        record.removals = try (0..<Int.random(in: 0...9, using: &generator)).map { _ in
            .init(
                id: try id(&generator),
                offset: Int64.random(in: -1...Int64.max, using: &generator),
                closed: instant(&generator)
            )
        }
        record.devices = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            .init(device: word(&generator), at: instant(&generator))
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            _ = record.wait(for: region(&generator), word(&generator), try id(&generator))
        }
        if chance(&generator) { record.applied[.devices].offset = Int64.random(in: 0...Int64.max, using: &generator) }
        if chance(&generator) { record.applied[.tokens].offset = Int64.random(in: 0...Int64.max, using: &generator) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            var device = RecipientRecord.RegisteredDevice(
                name: word(&generator),
                registration: try DeviceRegistration(platform: "fcm", token: "t"),
                writtenAt: instant(&generator)
            )
            device.retiredAt = maybe(&generator, instant)
            record.registrations.append(device)
        }
        if chance(&generator) {
            let key = try NotificationKey(application: "shop", recipient: "ana", identifier: "phone")
            record.tokenOwner = .init(device: key, writtenAt: instant(&generator))
        }
        if let device = record.devices.randomElement(using: &generator)?.device {
            _ = record.locate(.init(device: device, latitude: 0, longitude: 0, at: .latest))
        }
        return record
    }

    private static func region(_ generator: inout SeededGenerator) -> LocationTrigger {
        LocationTrigger(
            region: CircularRegion(
                latitude: Double.random(in: -90...90, using: &generator),
                longitude: Double.random(in: -180...180, using: &generator),
                radius: Double.random(in: 1...20_000_000, using: &generator)
            ),
            notifyOnEntry: true,
            notifyOnExit: chance(&generator),
            repeats: chance(&generator)
        )
    }

    static func marker(using generator: inout SeededGenerator) -> StateMarker {
        StateMarker(
            offsets: offsets(&generator),
            wallTime: instant(&generator),
            partitions: Int32.random(in: 1...Int32.max, using: &generator),
            timeZoneDataVersion: word(&generator),
            firedThrough: maybe(&generator, instant),
            lineage: maybe(&generator, word),
            replay: offsets(&generator),
            replayEnd: offsets(&generator),
            lives: offsets(&generator)
        )
    }

    private static func chance(_ generator: inout SeededGenerator) -> Bool {
        Bool.random(using: &generator)
    }

    private static func maybe<Value>(
        _ generator: inout SeededGenerator,
        _ make: (inout SeededGenerator) throws -> Value
    ) rethrows -> Value? {
        chance(&generator) ? try make(&generator) : nil
    }

    /// Small numbers and large ones.
    private static func count(_ generator: inout SeededGenerator) -> Int64 {
        Int64.random(in: 0...Int64.max, using: &generator) >> Int64.random(in: 0...62, using: &generator)
    }

    private static func channel(_ generator: inout SeededGenerator) -> ChannelName? {
        chance(&generator) ? ChannelName.allCases.randomElement(using: &generator) : nil
    }

    private static func instant(_ generator: inout SeededGenerator) -> Timestamp {
        Timestamp(
            rawValue: Int64.random(in: Timestamp.earliest.rawValue...Timestamp.latest.rawValue, using: &generator)
        )
    }

    private static func word(_ generator: inout SeededGenerator) -> String {
        let parts = ["a", "\"", "\\", "é", "张三", "📦", " ", "/", "{", "order-1", "e\u{301}"]
        return (0...Int.random(in: 0...4, using: &generator)).map { _ in
            parts.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private static func id(_ generator: inout SeededGenerator) throws -> RequestID {
        chance(&generator) ? RequestID.random(using: &generator) : try RequestID(text: word(&generator))
    }

    private static func offsets(_ generator: inout SeededGenerator) -> [String: Int64] {
        var offsets: [String: Int64] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &generator) { offsets[word(&generator)] = count(&generator) }
        return offsets
    }

    private static func trace(_ generator: inout SeededGenerator) -> CarriedTrace {
        let states = ["vendor=1", #"a="\""#, String(repeating: "x", count: 512)]
        return CarriedTrace(
            traceparent: maybe(&generator) { _ in bytes("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") },
            tracestate: states.randomElement(using: &generator).map(bytes)
        )
    }

    private static func content(_ generator: inout SeededGenerator) -> ArraySlice<UInt8> {
        let contents = ["{}", #"{ "title" : "Ä\n\u00e4" }"#, #"{"userInfo":{"a":[1.50,null,{"b":"}"}]},"body":"x"}"#]
        return bytes(contents.randomElement(using: &generator) ?? "{}")[...]
    }

    private static func timer(_ generator: inout SeededGenerator) throws -> StateEntry.Timer {
        switch Int.random(in: 0...4, using: &generator) {
        case 0: return .held
        case 1: return .turn
        case 2: return try calendar(&generator)
        default:
            let schedule = IntervalSchedule(
                interval: max(1, count(&generator)),
                anchor: instant(&generator),
                repeats: chance(&generator),
                misfire: maybe(&generator) { MisfirePolicy.allCases.randomElement(using: &$0) ?? .once },
                jitter: chance(&generator) ? 0 : count(&generator)
            )
            return .scheduled(.interval(schedule), occurrence: instant(&generator))
        }
    }

    private static func calendar(_ generator: inout SeededGenerator) throws -> StateEntry.Timer {
        let zones = ["UTC", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe"]
        let zone = zones.randomElement(using: &generator) ?? "UTC"
        let day = maybe(&generator) { CalendarValues(1...Int.random(in: 1...31, using: &$0)) }
        let trigger = CalendarTrigger(
            dateComponents: .init(day: day, hour: CalendarValues(Int.random(in: 0...23, using: &generator))),
            timeZone: zone,
            repeats: chance(&generator),
            notBefore: maybe(&generator, instant),
            gap: GapPolicy.allCases.randomElement(using: &generator),
            overlap: OverlapPolicy.allCases.randomElement(using: &generator),
            missingDay: day == nil ? nil : MissingDayPolicy.allCases.randomElement(using: &generator),
            misfire: MisfirePolicy.allCases.randomElement(using: &generator),
            jitter: maybe(&generator) { Double(Int.random(in: 1...60, using: &$0)) }
        )
        let occurrence = instant(&generator)
        var schedule = try CalendarSchedule(
            restoring: trigger,
            anchor: instant(&generator),
            zone: TimeZoneDatabase.system.get().rules(named: zone),
            occurrence: occurrence,
            offset: maybe(&generator) { Int.random(in: -50_000...50_000, using: &$0) }
        )
        schedule.floats = chance(&generator)
        return .scheduled(.calendar(schedule), occurrence: occurrence)
    }

    private static func pending(_ generator: inout SeededGenerator) throws -> StateEntry.Pending {
        .init(
            requestID: try id(&generator),
            content: content(&generator),
            expiration: maybe(&generator, instant),
            trace: trace(&generator),
            timer: try timer(&generator),
            due: maybe(&generator, instant),
            round: Int.random(in: 0...2, using: &generator),
            channel: channel(&generator)
        )
    }

    /// A handover with its operations, and targets that show other things.
    private static func send(in entry: inout StateEntry, _ generator: inout SeededGenerator) throws {
        var handover = StateEntry.Handover(
            showing: try showing(&generator),
            content: content(&generator),
            expiration: maybe(&generator, instant),
            trace: trace(&generator),
            closes: chance(&generator),
            channel: channel(&generator),
            time: instant(&generator)
        )
        (handover.cancelledBy, handover.removedBy) = (try maybe(&generator, id), try maybe(&generator, id))
        handover.isClosed = chance(&generator)
        handover.devices = (0..<Int.random(in: 0...3, using: &generator)).map { "device-\($0)" }
        var screen = Screen()
        if chance(&generator) {
            var operation = ScreenOperation(
                .show(handover.showing),
                channel: .webhook,
                devices: handover.devices ?? [],
                at: instant(&generator),
                sequence: .init(life: 0, offset: count(&generator), time: instant(&generator)),
                trace: handover.trace
            )
            operation.attempt = Int.random(in: 1...Int(Int32.max), using: &generator)
            operation.begun = maybe(&generator, instant)
            if chance(&generator) { operation.phase = .inFlight(since: instant(&generator)) }
            if chance(&generator) { operation.list = bytes(#"[{"device":"device-0"}]"#)[...] }
            if chance(&generator) { operation.id = UUIDValue(high: 1, low: UInt64(count(&generator))) }
            screen.operations.append(operation)
        } else {
            handover.start = instant(&generator)
        }
        for name in ["device-1", "device-2", "device-3"] where chance(&generator) {
            var target = ScreenTarget(.webhook, name, shows: try maybe(&generator, showing))
            target.refused = try maybe(&generator, showing)
            target.isLeft = chance(&generator)
            for _ in 0..<Int.random(in: 0...2, using: &generator) { target.doubt(try showing(&generator)) }
            screen.targets.append(target)
        }
        if chance(&generator) {
            var removal = ScreenOperation(
                .remove,
                channel: .webhook,
                devices: ["device-3"],
                removes: [try showing(&generator)],
                at: instant(&generator),
                sequence: .init(life: 1, offset: 3, time: instant(&generator)),
                trace: .none,
                cause: try maybe(&generator, id)
            )
            if chance(&generator) { removal.phase = .inFlight(since: instant(&generator)) }
            screen.operations.append(removal)
        }
        entry.handover = handover
        entry.screen = screen.isEmpty ? nil : screen
    }

    private static func showing(_ generator: inout SeededGenerator) throws -> Showing {
        Showing(
            try id(&generator),
            maybe(&generator, instant),
            round: Int.random(in: 0...2, using: &generator)
        )
    }

    /// The newest last, as the center keeps them: each closed after the one before.
    private static func known(_ generator: inout SeededGenerator) throws -> [StateEntry.KnownRequest] {
        var closed = Int64.random(in: 0...1_795_251_600_123, using: &generator)
        return try (0..<Int.random(in: 0...40, using: &generator)).map { _ in
            closed += Int64.random(in: 1...100_000, using: &generator)
            return .init(id: try id(&generator), closed: Timestamp(rawValue: closed))
        }
    }
}
