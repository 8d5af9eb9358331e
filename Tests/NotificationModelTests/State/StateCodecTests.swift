import Foundation
import NotificationDelivery
import NotificationModel
@testable import NotificationState
import Testing
import TestSupport

@Suite("The changelog's codec")
struct StateCodecTests {
    /// The lines of a file in `Fixtures/state`.
    private func lines(_ file: String) throws -> [[UInt8]] {
        let json = try Data(contentsOf: Fixture.folder().appendingPathComponent("state/\(file).jsonl"))
        return json.split(separator: 0x0A).map(Array.init)
    }

    /// Each line reads as the sample at its position, and the sample is written as that line.
    private func check(_ file: String, _ samples: [(name: String, entry: StateEntry)]) throws {
        try check(lines(file), samples)
    }

    private func check(_ lines: [[UInt8]], _ samples: [(name: String, entry: StateEntry)]) throws {
        #expect(lines.count == samples.count)
        for (line, sample) in zip(lines, samples) {
            #expect(try StateEntry(json: line) == sample.entry, "\(sample.name)")
            let head = try StateEntry.head(of: line)
            #expect(head.touched == sample.entry.touched, "\(sample.name)")
            #expect(head.open == sample.entry.open, "\(sample.name)")
            // What was being sent is read into another form, which the center completes.
            guard sample.entry.former == nil else { continue }
            #expect(text(sample.entry.json) == text(line), "\(sample.name)")
            #expect(head.due == sample.entry.storedDue, "\(sample.name)")
        }
    }

    private func check(_ file: String, _ samples: [(name: String, marker: StateMarker)]) throws {
        let lines = try lines(file)
        #expect(lines.count == samples.count)
        for (line, sample) in zip(lines, samples) {
            #expect(try StateMarker(json: line) == sample.marker, "\(sample.name)")
            #expect(text(sample.marker.json) == text(line), "\(sample.name)")
        }
    }

    @Test("output of a661b8f is readable, and its samples are written identically")
    func first() throws {
        try check("a661b8f/entries", try StateSamples.firstEntries())
        try check("a661b8f/markers", StateSamples.firstMarkers())
    }

    @Test("output of 49d030c is readable, and its additional samples are written identically")
    func lives() throws {
        let lines = try lines("49d030c/entries")
        try #require(lines.count == 3)
        try check([lines[0]], [StateSamples.laterEntry()])
        let recipient = try StateSamples.laterRecipient()
        #expect(try RecipientRecord(json: lines[1]) == recipient)
        #expect(text(recipient.json) == text(lines[1]))
        let (_, everything) = try StateSamples.laterEverything()
        #expect(try StateEntry(json: lines[2]) == everything)
        try check("49d030c/markers", StateSamples.laterMarkers())
    }

    @Test("all that aeb27f3 has written in its simulation is readable, and what is written again reads equal")
    func sends() throws {
        var formers = 0
        for (key, value) in try WrittenState.records(of: "aeb27f3") {
            if key == StateMarker.key {
                let marker = try StateMarker(json: value)
                #expect(try StateMarker(json: marker.json) == marker, "\(text(value))")
            } else if try NotificationKey(encoded: key).isWholeRecipient {
                let recipient = try RecipientRecord(json: value)
                #expect(try RecipientRecord(json: recipient.json) == recipient, "\(text(value))")
            } else {
                let entry = try StateEntry(json: value)
                // What was being sent is read into another form, which the center completes.
                if entry.former != nil { formers += 1 }
                #expect(try entry.former != nil || StateEntry(json: entry.json) == entry, "\(text(value))")
            }
        }
        #expect(formers > 50)
    }

    @Test("an entry of a661b8f with an invalid trace is read without the trace")
    func traces() throws {
        let (lines, samples) = (try lines("a661b8f/traces"), StateSamples.strangeTraces())
        #expect(lines.count == samples.count)
        for (line, sample) in zip(lines, samples) {
            #expect(try StateEntry(json: line) == sample.entry, "\(sample.name)")
            #expect(text(line).contains("tracestate"), "\(sample.name)")
        }
    }

    @Test("an entry with any contents reads back equal", arguments: 0..<300 as Range<UInt64>)
    func entries(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let entry = try RandomState.entry(using: &generator)
        let read = try StateEntry(json: entry.json)
        #expect(read == entry)
        #expect(read.json == entry.json)
        let head = try StateEntry.head(of: entry.json)
        #expect(head.touched == entry.touched && head.due == entry.storedDue && head.open == entry.open)
    }

    @Test("a recipient's record with any contents reads back equal", arguments: 0..<50 as Range<UInt64>)
    func recipients(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let record = try RandomState.recipient(using: &generator)
        #expect(try RecipientRecord(json: record.json) == record)
        // A restore reads only the head, of both kinds of records.
        let head = try StateEntry.head(of: record.json)
        #expect(head.touched == record.touched && head.due == nil)
    }

    @Test(
        "a recipient's missing field and newer form are named",
        arguments: [
            (#"{"form":99,"removals":7}"#, ReasonCode.unsupportedForm, "form"),
            (#"{"touched":"2026-11-21T09:00:00.000Z"}"#, .invalid, "form"),
            (#"{"form":1,"removals":[{"id":"a","offset":1}]}"#, .invalid, "removals.0.closed"),
            (#"{"form":1,"life":-1}"#, .invalid, "life"),
        ]
    )
    func refusedRecipient(_ json: String, _ reason: ReasonCode, _ field: String) {
        let error = failure { () throws(ModelError) in try RecipientRecord(json: bytes(json)) }
        #expect(error?.reason == reason && error?.field == field, "\(String(describing: error))")
    }

    @Test("an entry is written in the oldest form that can represent it")
    func oldestForm() throws {
        for sample in try StateSamples.firstEntries() + [StateSamples.laterEntry(), StateSamples.laterEverything()] {
            #expect(text(sample.entry.json).hasPrefix(#"{"form":1,"#), "\(sample.name)")
        }
        // Readers of form 1 need a due time.
        let timeless = StateSamples.entry {
            $0.pending = StateSamples.pending(.turn)
            $0.pending?.due = nil
        }
        #expect(text(timeless.json).hasPrefix(#"{"form":2,"#))
        // Without a time it is unfinished all the same, and must not be forgotten.
        #expect(try StateEntry.head(of: timeless.json).due == .latest)
    }

    @Test(
        "what a Live Activity shows is written in a form that older versions refuse, and a text that only names it is not"
    )
    func liveActivity() throws {
        let activity = bytes(#"{"liveActivity":{"contentState":{}}}"#)[...]
        let other = bytes(#"{"title":"liveActivity","userInfo":{"liveActivity":{"contentState":{}}}}"#)[...]
        for (content, form) in [(activity, 11), (other, 1)] {
            let id = RequestID.uuid(UUIDValue(high: 1, low: 2))
            let entries = [
                StateSamples.entry {
                    $0.pending = StateSamples.pending(.held)
                    $0.pending?.content = content
                },
                StateSamples.entry {
                    StateSamples.send(.inFlight(since: .earliest), in: &$0) {
                        $0.content = content
                        $0.showing.isFormer = false
                    }
                    $0.former = nil
                },
                StateSamples.entry {
                    let details = StateEntry.Delivered.Details(content: content, category: nil, devices: ["phone"])
                    $0.delivered = .init(requestID: id, at: .earliest, details: details)
                },
            ]
            for entry in entries {
                #expect(text(entry.json).hasPrefix(#"{"form":\#(form),"#), "\(text(entry.json))")
                #expect(try StateEntry(json: entry.json, zones: nil) == entry)
            }
        }
    }

    @Test("an operation that awaits the token of an activity, and the date of an end, survive")
    func activityOperations() throws {
        var operation = ScreenOperation(
            .remove,
            channel: .devices,
            devices: ["phone"],
            at: StateSamples.later,
            sequence: .init(life: 0, offset: 4, time: StateSamples.now),
            trace: .none
        )
        for (timestamp, awaits) in [(1_795_251_600, false), (nil, true)] as [(Int64?, Bool)] {
            (operation.timestamp, operation.awaitsToken) = (timestamp, awaits)
            let entry = StateSamples.entry {
                $0.screen = Screen()
                $0.screen?.operations = [operation]
            }
            #expect(text(entry.json).hasPrefix(#"{"form":11,"#))
            #expect(try StateEntry(json: entry.json, zones: nil) == entry)
        }
        let showing = Showing(.uuid(UUIDValue(high: 1, low: 2)), nil)
        var removal = OpenRemoval(showing, by: showing.requestID, left: nil, from: ["a"], on: .devices, trace: .none)
        removal.dismissalDate = StateSamples.later
        let entry = StateSamples.entry {
            $0.screen = Screen()
            $0.screen?.removal = removal
        }
        #expect(try StateEntry(json: entry.json, zones: nil) == entry && text(entry.json).hasPrefix(#"{"form":11,"#))
    }

    @Test("a named channel is written in a form that older versions refuse, and the default is not written")
    func channel() throws {
        let parts: [(inout StateEntry, ChannelName?) -> Void] = [
            {
                $0.pending = StateSamples.pending(.held); $0.pending?.channel = $1
            },
            { entry, channel in
                StateSamples.send(.inFlight(since: .earliest), in: &entry) {
                    $0.channel = channel
                    $0.showing.isFormer = false
                }
                entry.former = nil
            },
            { $0.delivered = .init(requestID: .uuid(UUIDValue(high: 1, low: 2)), at: .earliest, channel: $1) },
        ]
        for part in parts {
            for channel in ChannelName.allCases {
                let entry = StateSamples.entry { part(&$0, channel) }
                let form = channel == .devices || channel.platform != nil ? 9 : 5
                #expect(text(entry.json).hasPrefix(#"{"form":\#(form),"#))
                #expect(text(entry.json).contains(#""channel":"\#(channel.rawValue)""#))
                #expect(try StateEntry(json: entry.json, zones: nil) == entry)
            }
            #expect(text(StateSamples.entry { part(&$0, nil) }.json).hasPrefix(#"{"form":1,"#))
        }
    }

    @Test("a calendar trigger is written with its zone and offset, in a form that older versions refuse")
    func calendar() throws {
        let trigger = CalendarTrigger(
            dateComponents: .init(day: 31, hour: 9),
            timeZone: "Asia/Shanghai",
            repeats: true,
            missingDay: .previous,
            jitter: 30
        )
        let zone = try TimeZoneDatabase.system.get().rules(named: "Asia/Shanghai")
        let schedule = try CalendarSchedule(trigger, anchor: StateSamples.now, zone: zone)
        let entry = StateSamples.entry {
            $0.pending = StateSamples.pending(.scheduled(.calendar(schedule), occurrence: schedule.first))
        }
        let json = text(entry.json)
        #expect(json.hasPrefix(#"{"form":3,"#))
        #expect(
            json.contains(
                #""timer":{"trigger":{"type":"calendar","dateComponents":{"day":31,"hour":9},"timeZone":"Asia/Shanghai","#
                    + #""repeats":true,"missingDay":"previous","jitter":30},"anchor":"2026-11-21T09:00:00.123Z","#
                    + #""occurrence":"2026-11-30T01:00:00.000Z","offset":28800}"#
            ),
            "\(json)"
        )
        #expect(try StateEntry(json: entry.json) == entry)
        #expect(try StateEntry.head(of: entry.json).mayHaveCalendar)
        // A field of a later version in the trigger is no reason to lose the entry.
        let later = json.replacing(#""trigger":{"#, with: #""trigger":{"later":1,"#)
            .replacing(#""dateComponents":{"#, with: #""dateComponents":{"later":1,"#)
        #expect(try StateEntry(json: bytes(later)) == entry)
    }

    @Test("a calendar trigger with a list is written in a form that older versions refuse")
    func calendarLists() throws {
        let zone = try TimeZoneDatabase.system.get().rules(named: "Asia/Shanghai")
        let rows: [(CalendarComponents, form: Int, text: String)] = [
            (.init(weekday: [6, 2, 6], hour: 9), 8, #"{"weekday":[2,6],"hour":9}"#),
            (.init(weekday: [2], hour: [9]), 3, #"{"weekday":2,"hour":9}"#),
        ]
        for (components, form, written) in rows {
            let trigger = CalendarTrigger(dateComponents: components, timeZone: "Asia/Shanghai")
            let schedule = try CalendarSchedule(trigger, anchor: StateSamples.now, zone: zone)
            let entry = StateSamples.entry {
                $0.pending = StateSamples.pending(.scheduled(.calendar(schedule), occurrence: schedule.first))
            }
            #expect(text(entry.json).hasPrefix(#"{"form":\#(form),"#))
            #expect(text(entry.json).contains(#""dateComponents":\#(written)"#))
            #expect(try StateEntry(json: entry.json) == entry)
        }
    }

    @Test("a calendar trigger that floats says so in a member that an older version may ignore")
    func floatingCalendar() throws {
        let trigger = CalendarTrigger(dateComponents: .init(hour: 9), repeats: true)
        let system = try TimeZones.system()
        let local = try system.database.rules(named: "Asia/Shanghai")
        for (zone, name, offset) in [(nil, "UTC", 0), (local, "Asia/Shanghai", 28_800)] {
            let schedule = try #require(
                try Schedule(.calendar(trigger), anchor: StateSamples.now, zones: system, local: zone)
            )
            let entry = StateSamples.entry {
                $0.pending = StateSamples.pending(.scheduled(schedule, occurrence: schedule.first))
            }
            let json = text(entry.json)
            #expect(json.hasPrefix(#"{"form":3,"#))
            #expect(json.contains(#""timeZone":"\#(name)","repeats":true},"#))
            #expect(json.contains(#""offset":\#(offset),"floats":true}"#), "\(json)")
            let read = try StateEntry(json: entry.json)
            #expect(read == entry)
            guard case .scheduled(.calendar(let calendar), _)? = read.pending?.timer else {
                Issue.record("no calendar")
                continue
            }
            #expect(calendar.floats && calendar.next(after: calendar.first) == schedule.next(after: schedule.first))
            // Planned again with other data, it still floats.
            #expect(calendar.replanned(calendar.first).schedule.floats)
            let fixed = try StateEntry(json: bytes(json.replacing(#","floats":true"#, with: "")))
            guard case .scheduled(.calendar(let named), _)? = fixed.pending?.timer else {
                Issue.record("no calendar")
                continue
            }
            #expect(!named.floats && named.first == calendar.first && fixed != entry)
        }
    }

    @Test("an entry whose zone the database lost keeps its time and the last known offset, and its name when written")
    func lostZone() throws {
        let json = bytes(
            #"{"form":3,"touched":"2026-11-21T09:00:00.000Z","pending":{"requestId":"a","due":"2026-11-22T01:00:00.000Z","#
                + #""timer":{"trigger":{"type":"calendar","dateComponents":{"hour":9},"timeZone":"Asia/Atlantis","repeats":true},"#
                + #""anchor":"2026-11-21T09:00:00.000Z","occurrence":"2026-11-22T01:00:00.000Z","offset":28800},"content":{}}}"#
        )
        for zones in [try TimeZoneDatabase.system.get(), nil] {
            let entry = try StateEntry(json: json, zones: zones)
            guard case .scheduled(.calendar(let schedule), let occurrence)? = entry.pending?.timer else {
                Issue.record("no calendar")
                return
            }
            #expect(schedule.zone.isSubstitute && schedule.zone.name == "Asia/Atlantis")
            #expect(occurrence == Timestamp(rfc3339: "2026-11-22T01:00:00Z"))
            #expect(schedule.next(after: occurrence) == Timestamp(rfc3339: "2026-11-23T01:00:00Z"))
            #expect(schedule.replanned(occurrence).occurrence == occurrence)
            #expect(schedule.explain(occurrence)?.abbreviation == "+08")
            #expect(text(entry.json).contains(#""timeZone":"Asia/Atlantis""#))
            #expect(try StateEntry(json: entry.json, zones: zones) == entry)
        }
    }

    @Test("a marker with any contents reads back equal", arguments: 0..<100 as Range<UInt64>)
    func markers(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let marker = RandomState.marker(using: &generator)
        let read = try StateMarker(json: marker.json)
        #expect(read == marker)
        #expect(read.json == marker.json)
    }

    @Test(
        "a missing field and a newer form are named",
        arguments: [
            (#"{"form":99,"touched":7}"#, ReasonCode.unsupportedForm, "form"),
            (#"{"touched":"2026-11-21T09:00:00.000Z"}"#, .invalid, "form"),
            (#"{"form":1,"version":{"by":"a"}}"#, .invalid, "version.number"),
            (#"{"form":1,"version":{"number":1}}"#, .invalid, "version.by"),
            (#"{"form":1,"delivered":{"requestId":"a"}}"#, .invalid, "delivered.at"),
            (#"{"form":1,"sending":{"requestId":"a","attempt":1}}"#, .invalid, "sending.since"),
            (#"{"form":1,"knownTexts":[{"id":"a"}]}"#, .invalid, "knownTexts.0.closed"),
            (#"{"form":1,"pending":{"timer":{"interval":1}}}"#, .invalid, "pending.timer.anchor"),
            (#"{"form":1,"pending":{"timer":"helt"}}"#, .invalid, "pending.timer"),
            (#"{"form":1,"pending":{"tracestate":1}}"#, .invalid, "pending.tracestate"),
            (
                #"{"form":3,"pending":{"timer":{"trigger":{"type":"calendar","dateComponents":{"hour":9}}}}}"#,
                .invalid,
                "pending.timer.occurrence"
            ),
            (#"{"form":3,"pending":{"timer":{"trigger":{"type":"push"}}}}"#, .invalid, "pending.timer.trigger"),
            (#"{"form":3,"pending":{"timer":{"offset":100000}}}"#, .invalid, "pending.timer.offset"),
        ]
    )
    func refused(_ json: String, _ reason: ReasonCode, _ field: String) {
        let error = failure { () throws(ModelError) in try StateEntry(json: bytes(json)) }
        #expect(error?.reason == reason && error?.field == field, "\(String(describing: error))")
        guard field == "form" else { return }
        #expect(failure { () throws(ModelError) in try StateEntry.head(of: bytes(json)) } == error)
    }

    @Test(
        "a marker's missing field and newer form are named",
        arguments: [
            (#"{"form":99,"offsets":7}"#, ReasonCode.unsupportedForm, "form"),
            (#"{"form":0}"#, .invalid, "form"),
            (#"{"offsets":{}}"#, .invalid, "form"),
            (#"{"form":1}"#, .invalid, "offsets"),
            (#"{"form":1,"offsets":{}}"#, .invalid, "wallTime"),
            (#"{"form":1,"offsets":{},"wallTime":"2026-11-21T09:00:00.000Z"}"#, .invalid, "partitions"),
            (#"{"form":1,"replay":{"a":1,"b":"2"}}"#, .invalid, "replay.b"),
            (#"{"form":1,"firedThrough":"now"}"#, .invalid, "firedThrough"),
        ]
    )
    func refusedMarker(_ json: String, _ reason: ReasonCode, _ field: String) {
        let error = failure { () throws(ModelError) in try StateMarker(json: bytes(json)) }
        #expect(error?.reason == reason && error?.field == field, "\(String(describing: error))")
    }

    @Test("unknown fields are ignored at each level")
    func unknown() throws {
        for sample in try StateSamples.firstEntries() + [StateSamples.laterEntry(), StateSamples.laterEverything()] {
            // Each object gets a new first field, except the requests' contents, which are stored unchanged.
            let added = text(sample.entry.json)
                .replacing("{\"", with: #"{"later":{"form":[9]},""#)
                .replacing(
                    text(StateSamples.content).replacing("{\"", with: #"{"later":{"form":[9]},""#),
                    with: text(StateSamples.content)
                )
            guard sample.entry.former == nil else { continue }
            #expect(try StateEntry(json: bytes(added)) == sample.entry, "\(sample.name)")
        }
        let recipient = try StateSamples.laterRecipient()
        let added = text(recipient.json).replacing("{\"", with: #"{"later":{"form":[9]},""#)
        #expect(try RecipientRecord(json: bytes(added)) == recipient)
    }
}
