import NotificationModel
import Testing

@Suite("Legacy notifications")
struct LegacyTests {
    private func local(_ json: String) throws(ModelError) -> LegacyNotification.Parts {
        try LegacyNotification.localNotification(bytes(json))
    }

    private func payload(_ json: String) throws(ModelError) -> NotificationContent {
        try LegacyNotification.payload(bytes(json)).content
    }

    // 2026-11-21 is a Saturday; 09:30:15 in Shanghai.
    private let fireDate = "2026-11-21T01:30:15Z"

    @Test("the fields move as the table says; what has no counterpart is kept aside")
    func fields() throws {
        let parts = try local(
            """
            {"alertBody":"b","alertTitle":"t","alertLaunchImage":"l","alertAction":"Open","hasAction":false,
             "applicationIconBadgeNumber":3,"soundName":"bell.caf","category":"C","userInfo":{"k":1}}
            """
        )
        let expected = NotificationContent(
            title: "t",
            body: "b",
            badge: 3,
            sound: NotificationSound(name: "bell.caf"),
            categoryIdentifier: "C",
            launchImageName: "l",
            userInfo: try JSONValue.parse(bytes(#"{"k":1,"carillonLegacy":{"alertAction":"Open","hasAction":false}}"#))
        )
        #expect(parts.content == expected)
        #expect(parts.trigger == .push)
    }

    @Test("a badge of 0 meant no change; the default sound's constant is the default sound")
    func defaults() throws {
        let content = try local(
            #"{"alertBody":"b","applicationIconBadgeNumber":0,"soundName":"UILocalNotificationDefaultSoundName"}"#
        ).content
        #expect(content.badge == nil)
        #expect(content.sound == .default)
    }

    @Test("a one-shot without zone is its full date in UTC, with a zone its full date there and floating")
    func once() throws {
        let absolute = CalendarComponents(year: 2026, month: 11, day: 21, hour: 1, minute: 30, second: 15)
        #expect(
            try local(#"{"alertBody":"b","fireDate":"\#(fireDate)"}"#).trigger
                == .calendar(CalendarTrigger(dateComponents: absolute, timeZone: "UTC"))
        )
        let wall = CalendarComponents(year: 2026, month: 11, day: 21, hour: 9, minute: 30, second: 15)
        #expect(
            try local(#"{"alertBody":"b","fireDate":"\#(fireDate)","timeZone":"Asia/Shanghai"}"#).trigger
                == .calendar(CalendarTrigger(dateComponents: wall))
        )
    }

    @Test("fractions of a second are rounded up, never early")
    func fraction() throws {
        let parts = try local(#"{"alertBody":"b","fireDate":"2026-12-31T23:59:59.001Z"}"#)
        let expected = CalendarComponents(year: 2027, month: 1, day: 1, hour: 0, minute: 0, second: 0)
        #expect(parts.trigger == .calendar(CalendarTrigger(dateComponents: expected, timeZone: "UTC")))
    }

    @Test(
        "each repeat unit matches its components and starts at the fire date",
        arguments: [
            (["\"year\"", "4"], CalendarComponents(month: 11, day: 21, hour: 1, minute: 30, second: 15)),
            (["\"month\"", "8"], CalendarComponents(day: 21, hour: 1, minute: 30, second: 15)),
            (
                ["\"week\"", "\"weekOfYear\"", "256", "8192"],
                CalendarComponents(weekday: 7, hour: 1, minute: 30, second: 15)
            ),
            (["\"day\"", "\"weekday\"", "16", "512"], CalendarComponents(hour: 1, minute: 30, second: 15)),
            (["\"hour\"", "32"], CalendarComponents(minute: 30, second: 15)),
            (["\"minute\"", "64"], CalendarComponents(second: 15)),
        ]
    )
    func units(_ units: [String], _ components: CalendarComponents) throws {
        for unit in units {
            let expected = CalendarTrigger(
                dateComponents: components,
                timeZone: "UTC",
                repeats: true,
                notBefore: Timestamp(rfc3339: fireDate)
            )
            let parts = try local(#"{"alertBody":"b","fireDate":"\#(fireDate)","repeatInterval":\#(unit)}"#)
            #expect(parts.trigger == .calendar(expected), "\(unit)")
        }
    }

    @Test("no repeat is no repeat, however it is written", arguments: ["0", "null", "\"\""])
    func noRepeat(_ unit: String) throws {
        #expect(try !local(#"{"alertBody":"b","fireDate":"\#(fireDate)","repeatInterval":\#(unit)}"#).trigger.repeats)
    }

    @Test(
        "units and calendars that cannot be mapped are refused",
        arguments: ["second", "era", "quarter", "weekdayOrdinal", "128", "2", "-1"]
    )
    func unmappable(_ unit: String) {
        for spelling in [unit, "\"\(unit)\""] {
            let error = failure { () throws(ModelError) in
                try local(#"{"alertBody":"b","fireDate":"\#(fireDate)","repeatInterval":\#(spelling)}"#)
            }
            // A bare word is not JSON and has no field.
            #expect(error?.reason == .invalid && (error?.field == "repeatInterval" || spelling.first?.isLetter == true))
        }
        let calendar = failure { () throws(ModelError) in try local(#"{"alertBody":"b","repeatCalendar":"chinese"}"#) }
        #expect(calendar?.field == "repeatCalendar")
    }

    @Test("regionTriggersOnce is the opposite of repeats and true by default")
    func region() throws {
        let region = #""region":{"latitude":31.2,"longitude":121.4,"radius":200,"identifier":"office"}"#
        guard case .location(let once) = try local(#"{"alertBody":"b",\#(region)}"#).trigger,
            case .location(let always) = try local(#"{"alertBody":"b","regionTriggersOnce":false,\#(region)}"#).trigger
        else {
            Issue.record("no location trigger")
            return
        }
        #expect(!once.repeats && once.notifyOnEntry && once.notifyOnExit && once.region.radius == 200)
        #expect(always.repeats)
        let latitude = failure { () throws(ModelError) in
            try local(#"{"alertBody":"b","region":{"latitude":100,"longitude":100,"radius":1}}"#)
        }
        #expect(latitude?.field == "trigger.region.latitude")
    }

    @Test(
        "what contradicts itself or says nothing is refused",
        arguments: [
            (#"{"alertBody":"b","repeatInterval":"day"}"#, "repeatInterval"),
            (
                #"{"alertBody":"b","fireDate":"2026-11-21T01:30:15Z","region":{"latitude":0,"longitude":0,"radius":1}}"#,
                "region"
            ),
            (#"{"alertBody":1}"#, "alertBody"), (#"{"alertBody":"b","fireDate":"soon"}"#, "fireDate"),
            (#"{"alertBody":"b","timeZone":"CST"}"#, "timeZone"), (#"{"alertBody":"b","colour":1}"#, "colour"),
            (#"{"alertBody":"b","alertBody":"c"}"#, "alertBody"), (#"{}"#, "content"),
            (#"{"alertBody":"b","applicationIconBadgeNumber":-1}"#, "content.badge"),
            (#"{"alertBody":"b","region":{"latitude":0}}"#, "region.longitude"),
        ]
    )
    func refused(_ json: String, _ field: String) {
        #expect(failure { () throws(ModelError) in try local(json) }?.field == field)
    }

    @Test("the old payload: a string alert is the body, custom keys are userInfo, aps is not")
    func oldPayload() throws {
        let content = try payload(#"{"aps":{"alert":"Hello","badge":0,"sound":"default"},"order":1001}"#)
        #expect(content.body == "Hello" && content.title == nil && content.badge == 0 && content.sound == .default)
        #expect(content.userInfo == (try JSONValue.parse(bytes(#"{"order":1001}"#))))
    }

    @Test("the newer payload: every key finds its place")
    func newPayload() throws {
        let content = try payload(
            """
            {"aps":{"alert":{"title":"t","subtitle":"s","body":"b","launch-image":"l","loc-key":"K","loc-args":["1"],
             "title-loc-key":"T","action-loc-key":"A"},"sound":{"critical":1,"name":"a.caf","volume":0.5},"category":"C",
             "thread-id":"th","target-content-id":"tc","interruption-level":"time-sensitive","relevance-score":0.7,
             "filter-criteria":"f","mutable-content":1,"content-available":1}}
            """
        )
        #expect(
            content.title == "t" && content.subtitle == "s" && content.body == "b" && content.launchImageName == "l"
        )
        #expect(content.bodyLocalization == Localization(key: "K", arguments: ["1"]))
        #expect(content.titleLocalization == Localization(key: "T"))
        #expect(content.sound == NotificationSound(name: "a.caf", critical: true, volume: 0.5))
        #expect(content.interruptionLevel == .timeSensitive && content.mutableContent == true)
        #expect(content.userInfo?.value(at: "carillonLegacy.action-loc-key")?.stringValue == "A")
    }

    @Test(
        "payloads that are none are refused with the path",
        arguments: [
            (#"{"aps":{"badge":"1"}}"#, "aps.badge"), (#"{"aps":{"image":"x"}}"#, "aps.image"),
            (#"{"aps":"x"}"#, "aps"),
            (#"{"aps":{"alert":{"bodyy":"x"}}}"#, "aps.alert.bodyy"), (#"{"aps":{"alert":1}}"#, "aps.alert"),
            (#"{"aps":{"alert":"x","relevance-score":2}}"#, "content.relevanceScore"), (#"{"aps":{}}"#, "content"),
            (#"{"aps":{"alert":{"loc-args":["1"]}}}"#, "aps.alert.loc-args"),
            (#"{"aps":{"alert":"x","interruption-level":"timeSensitive"}}"#, "aps.interruption-level"),
        ]
    )
    func refusedPayload(_ json: String, _ field: String) {
        #expect(failure { () throws(ModelError) in try payload(json) }?.field == field)
    }
}
