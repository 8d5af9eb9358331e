import Kafka
import NotificationModel
import NotificationState
import Synchronization
import Testing

@testable import NotificationConsumer

struct IntakeTests {
    private let intake = RequestIntake(topic: "requests", zones: zones) { key in
        key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: 8) }
    }
    private let home = KafkaPartitioner.partition(forKey: Array("ana".utf8), count: 8)

    private func record(_ key: String?, _ value: String?, partition: Int32? = nil, at time: Int64? = 0) -> Intake.Record
    {
        .init(
            .requests,
            partition: partition ?? home,
            offset: 42,
            timestamp: time.map { at($0).rawValue },
            key: key.map { Array($0.utf8) },
            value: value.map { Array($0.utf8) },
            trace: .none
        )
    }

    private func rejection(of record: Intake.Record) -> (reason: ReasonCode, field: String?)? {
        do throws(ModelError) {
            _ = try intake.input(from: record, at: at(0))
            return nil
        } catch {
            return (error.reason, error.field)
        }
    }

    private static func calendar(
        _ components: String,
        zone: String = "Asia/Shanghai",
        _ reason: ReasonCode,
        _ field: String
    ) -> (String?, String, ReasonCode, String?) {
        let trigger = "{\"type\":\"calendar\",\"dateComponents\":\(components),\"timeZone\":\"\(zone)\"}"
        return ("shop/ana/a", "{\"content\":{\"title\":\"T\"},\"trigger\":\(trigger)}", reason, field)
    }

    private static let unusable: [(String?, String, ReasonCode, String?)] = [
        (nil, #"{"content":{"title":"T"}}"#, ReasonCode.invalid, "key"),
        ("shop/ana", #"{"content":{"title":"T"}}"#, .invalid, "key"),
        ("shop/ana/", #"{"content":{"title":"T"}}"#, .invalid, "identifier"),
        ("shop/ana/a%00", #"{"content":{"title":"T"}}"#, .invalid, "identifier"),
        ("shop/ana/a", "", .invalid, nil),
        ("shop/ana/a", "{", .invalid, nil),
        ("shop/ana/a", #"{"content":{"title":"T"},"x":1}"#, .unknownField, "x"),
        ("shop/ana/a", #"{"content":{"title":"T"},"trigger":{"type":"moon"}}"#, .unknownTrigger, "trigger.type"),
        (
            "shop/ana/a",
            #"{"content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":59,"repeats":true}}"#,
            .invalid, "trigger.timeInterval"
        ),
        (
            "shop/ana/a",
            #"{"content":{"title":"T"},"trigger":{"type":"location","region":{"latitude":1,"longitude":1,"radius":1}}}"#,
            .invalid, "trigger.notifyOnEntry"
        ),
        calendar(#"{"month":2,"hour":9}"#, .invalid, "trigger.dateComponents.day"),
        calendar(#"{"year":1970,"month":2,"day":30,"hour":9}"#, .invalid, "trigger.dateComponents.day"),
        calendar(#"{"year":1969,"month":12,"day":31}"#, .invalid, "trigger.dateComponents"),
        calendar(#"{"hour":9}"#, zone: "Mars/Olympus_Mons", .invalid, "trigger.timeZone"),
        calendar(
            #"{"year":2027,"month":3,"day":14,"hour":2,"minute":30}"#,
            zone: #"America/New_York","gap":"skip"#,
            .gap,
            "trigger.dateComponents"
        ),
        ("shop/ana/a", #"{"recipient":"bo","content":{"title":"T"}}"#, .invalid, "recipient"),
    ]

    @Test(arguments: unusable)
    func `an invalid record is rejected with the reason and the field`(
        key: String?,
        value: String,
        reason: ReasonCode,
        field: String?
    ) {
        let found = rejection(of: record(key, value))
        #expect(found?.reason == reason)
        if let field { #expect(found?.field == field) }
    }

    @Test(arguments: [nil, "America/New_York"])
    func `a calendar trigger is planned in its zone, and left to the center without one`(zone: String?) throws {
        let here = try TimeZones(zones.database, standard: "Asia/Shanghai")
        let intake = RequestIntake(topic: "requests", zones: here) { _ in 0 }
        let named = zone.map { ",\"timeZone\":\"\($0)\"" } ?? ""
        let trigger = "{\"type\":\"calendar\",\"dateComponents\":{\"hour\":9}\(named),\"repeats\":true}"
        let value = "{\"content\":{\"title\":\"T\"},\"trigger\":\(trigger)}"
        let input = try intake.input(from: record("shop/ana/a", value, partition: 0), at: at(0))
        guard case .request(let request) = input else {
            Issue.record("\(input)")
            return
        }
        #expect(!input.isTimeless)
        switch request.plan {
        case .scheduled(.calendar(let schedule)):
            // Today at 9.
            #expect(schedule.first == Timestamp(rfc3339: "2027-01-15T14:00:00Z") && !schedule.floats)
            #expect(schedule.trigger.timeZone == zone && zone != nil)
        case .floating(let trigger):
            #expect(trigger == CalendarTrigger(dateComponents: .init(hour: 9), repeats: true) && zone == nil)
        default: Issue.record("\(request.plan)")
        }
    }

    @Test
    func `a payload of APNs written by hand becomes a content, and what it cannot say is noted at its first reading`()
        throws
    {
        let noted = Mutex<[[String]]>([])
        var intake = intake
        intake.noteUnsaid = { paths in noted.withLock { $0.append(paths) } }
        let record = record("shop/ana/a", #"{"content":{"apns":{"aps":{"alert":"A","url-args":["a"]}}}}"#)
        for isReadAgain in [false, true] {
            guard case .request(let request) = try intake.input(from: record, at: at(0), isReadAgain: isReadAgain)
            else {
                Issue.record("no request")
                return
            }
            #expect(Array(request.content) == Array(#"{"body":"A"}"#.utf8))
        }
        #expect(noted.withLock { $0 } == [["aps.url-args"]])
        let wrong = self.record("shop/ana/a", #"{"content":{"apns":{"aps":{"badge":"1"}}}}"#)
        #expect(rejection(of: wrong)?.field == "content.apns.aps.badge")
    }

    @Test func `a record in the wrong partition is misrouted, whatever it contains`() {
        let wrong = (home + 1) % 8
        #expect(rejection(of: record("shop/ana/a", #"{"remove":"all"}"#, partition: wrong))?.reason == .misrouted)
        #expect(rejection(of: record("shop/ana/a", nil, partition: wrong))?.reason == .misrouted)
    }

    @Test func `a timestamp far ahead of the clock is refused`() {
        #expect(rejection(of: record("shop/ana/a", #"{"remove":"all"}"#, at: 6 * 60_000))?.reason == .inFuture)
        #expect(rejection(of: record("shop/ana/a", #"{"remove":"all"}"#, at: 4 * 60_000)) == nil)
    }

    @Test(
        "a signal whose device clock is far ahead is refused, one within the tolerance is not",
        arguments: [(5 * 60_000 as Int64, nil), (5 * 60_000 + 1, ReasonCode.inFuture)]
    )
    func deviceClocks(_ ahead: Int64, _ reason: ReasonCode?) throws {
        let signals = SignalIntake(application: "shop") { _ in 0 }
        let gone = Signal.retirement(.init(device: "phone", gone: at(ahead)))
        let state = Signal.appState(.init(device: "phone", state: .foreground, at: at(ahead)))
        for (signal, field) in [(gone, "gone"), (state, "at")] {
            let record = Intake.Record(
                .signals,
                partition: 0,
                offset: 42,
                timestamp: at(0).rawValue,
                key: try SignalKey.bytes(recipient: "ana"),
                value: signal.json,
                trace: .none,
                signal: SignalHeaders([KafkaHeader(name: SignalType.header, value: Array(signal.type.eventType.utf8))])
            )
            do throws(ModelError) {
                _ = try signals.input(from: record, life: 0, at: at(0))
                #expect(reason == nil, "\(field)")
            } catch {
                #expect(error.reason == reason && error.field == field, "\(error)")
            }
        }
    }

    @Test func `a null value removes all of its identifier, with an id derived from its position`() throws {
        guard case .removal(let removal) = try intake.input(from: record("shop/ana/a", nil), at: at(0)) else {
            Issue.record("not a removal")
            return
        }
        #expect(removal.scope == .all && removal.key == key("a"))
        #expect(removal.id == RequestID.derive(topic: "requests", partition: home, offset: 42))
    }

    @Test func `triggers start at the record's timestamp, or now if it has none`() throws {
        let value = #"{"content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":0.0001}}"#
        for (time, anchor) in [(-5000 as Int64?, at(-5000)), (nil, at(0))] {
            guard case .request(let request) = try intake.input(from: record("shop/ana/a", value, at: time), at: at(0)),
                case .scheduled(let schedule) = request.plan
            else {
                Issue.record("not a scheduled request")
                return
            }
            // A fraction of a millisecond is rounded up, so that no timer fires early.
            #expect(schedule.first.rawValue == anchor.rawValue + 1)
        }
    }
}
