import NotificationModel
import NotificationState
import Testing

@Suite("Device registrations")
struct DeviceTests {
    private static let token = String(repeating: "ab", count: 32)
    private static let now = Timestamp(rawValue: 1_795_251_600_000)

    private static func json(_ members: String) -> [UInt8] {
        bytes("{\"platform\":\"apns\",\"token\":\"\(token)\"\(members.isEmpty ? "" : ",")\(members)}")
    }

    @Test(
        "a token of apns is its hexadecimal digits in lower case, however it was printed",
        arguments: [
            "0123abcd", "0123ABCD", "<0123abcd>", "01 23 ab cd", " <0123 ABCD> ", "0 1 2 3 a b c d",
        ]
    )
    func normalisedTokens(_ part: String) throws {
        let device = try DeviceRegistration(
            platform: "apns",
            token: String(repeating: part, count: 8)
        )
        #expect(device.token == String(repeating: "0123abcd", count: 8))
        #expect(device.hasToken(String(repeating: part, count: 8)))
    }

    @Test(
        "a token of the wrong shape is refused, and not quoted",
        arguments: [
            ("apns", ""), ("apns", "xyz"), ("apns", String(repeating: "ab", count: 15)),
            ("apns", String(repeating: "ab", count: 101)), ("apns", token + "a"), ("apns", token + "\u{e9}"),
            ("apns", "<>"), ("apns", String(repeating: "a", count: 5_000)), ("fcm", ""), ("fcm", "a\u{7}"),
            ("fcm", "tök"), ("fcm", String(repeating: "a", count: 4_097)),
        ]
    )
    func badTokens(_ platform: String, _ token: String) {
        let error = failure { () throws(ModelError) in try DeviceRegistration(platform: platform, token: token) }
        #expect(error?.reason == .invalid && error?.field == "token")
        #expect(token.isEmpty || error?.detail.contains(token) == false)
    }

    @Test("tokens of other platforms stay as they are, and tell upper from lower case")
    func otherTokens() throws {
        let device = try DeviceRegistration(platform: "fcm", token: " cX:APA91b-_Z ")
        #expect(device.token == " cX:APA91b-_Z ")
        #expect(device.hasToken(" cX:APA91b-_Z ") && !device.hasToken(" cx:apa91b-_z "))
        // A retirement does not say the platform, so its hexadecimal token came in lower case.
        #expect(try DeviceRegistration(platform: "other", token: "ABCD").hasToken("abcd"))
        let longest = String(repeating: "a", count: 4_096)
        #expect(try DeviceRegistration(platform: "web.push_v-2", token: longest).token == longest)
    }

    @Test("a platform is a lower-case name", arguments: ["", "APNs", "a b", "ä", String(repeating: "a", count: 65)])
    func platforms(_ platform: String) {
        let error = failure { () throws(ModelError) in try DeviceRegistration(platform: platform, token: "t") }
        #expect(error?.reason == .invalid && error?.field == "platform")
    }

    @Test("a registration without a status is authorized, and restricts nothing")
    func defaults() throws {
        let device = try DeviceRegistration(json: Self.json(""))
        #expect(device.authorizationStatus == .authorized && device.settings.isEmpty && device.registeredAt == nil)
        #expect(DeviceSettings.Name.allCases.allSatisfy { device.settings.allows($0) })
    }

    @Test("unknown fields and settings are passed over in a record, and refused in a body")
    func unknown() throws {
        let json = Self.json(#""color":"red","settings":{"haptic":"enabled","sound":"disabled"}"#)
        let device = try DeviceRegistration(json: json)
        #expect(device.settings[.sound] == .disabled && !device.settings.allows(.sound))
        for (members, field) in [(#""color":"red""#, "color"), (#""settings":{"haptic":1}"#, "settings.haptic")] {
            let error = failure { () throws(ModelError) in try DeviceRegistration(body: Self.json(members)) }
            #expect(error?.reason == .unknownField && error?.field == field)
        }
    }

    @Test(
        "a field that is given twice is refused",
        arguments: [#""token":"t""#, #""locale":"de","locale":"en""#, #""settings":{},"settings":{}"#]
    )
    func twice(_ members: String) {
        #expect(
            failure { () throws(ModelError) in try DeviceRegistration(body: Self.json(members)) }?.reason == .invalid
        )
    }

    @Test("a body of more than 16 KiB is refused without a scan")
    func large() {
        let padding = String(repeating: " ", count: ModelLimits.deviceBytes)
        let error = failure { () throws(ModelError) in try DeviceRegistration(body: Self.json("") + bytes(padding)) }
        #expect(error?.reason == .tooLarge && error?.field == nil)
    }

    @Test("a time zone must be in the database", arguments: ["Asia/Nowhere", "../etc/passwd", "PST8", "asia/shanghai"])
    func timeZones(_ zone: String) throws {
        let zones = try TimeZoneDatabase.system.get()
        try DeviceRegistration(json: Self.json(#""timeZone":"Asia/Shanghai""#)).check(zones: zones, at: Self.now)
        let device = try DeviceRegistration(json: Self.json("\"timeZone\":\"\(zone)\""))
        let error = failure { () throws(ModelError) in try device.check(zones: zones, at: Self.now) }
        #expect(error?.reason == .invalid && error?.field == "timeZone")
        try device.check(zones: nil, at: Self.now)
    }

    @Test("a registration may be five minutes ahead of the clock and no further")
    func future() throws {
        var device = try DeviceRegistration(json: Self.json(""))
        device.registeredAt = Self.now.adding(milliseconds: 300_000)
        try device.check(zones: nil, at: Self.now)
        device.registeredAt = Self.now.adding(milliseconds: 300_001)
        let error = failure { () throws(ModelError) in try device.check(zones: nil, at: Self.now) }
        #expect(error?.reason == .inFuture && error?.field == "registeredAt")
    }

    @Test("every setting keeps its value apart from the others, through JSON too")
    func settings() throws {
        for name in DeviceSettings.Name.allCases {
            for setting in NotificationSetting.allCases {
                var device = try DeviceRegistration(json: Self.json(""))
                device.settings[name] = .disabled
                device.settings[name] = setting
                let again = try DeviceRegistration(body: device.json).settings
                for other in DeviceSettings.Name.allCases {
                    #expect(again[other] == (other == name ? setting : nil))
                    #expect(again.allows(other) == (other != name || setting == .enabled))
                }
                device.settings[name] = nil
                #expect(device.settings == DeviceSettings())
            }
        }
    }

    @Test("the other settings keep their values, through JSON too")
    func otherSettings() throws {
        for style in AlertStyle.allCases {
            for previews in ShowPreviews.allCases {
                for provides in [false, true] {
                    let members = #""alertStyle":"\#(style.rawValue)","showPreviews":"\#(previews.rawValue)""#
                    let all = #"{"sound":"disabled",\#(members),"providesAppNotificationSettings":\#(provides)}"#
                    let device = try DeviceRegistration(body: Self.json("\"settings\":\(all)"))
                    #expect(device.settings.alertStyle == style && device.settings.showPreviews == previews)
                    #expect(device.settings.providesAppNotificationSettings == provides)
                    #expect(try DeviceRegistration(json: device.json) == device)
                    #expect(try JSONValue.parse(device.json)["settings"] == JSONValue.parse(bytes(all)))
                }
            }
        }
        let only = try DeviceRegistration(body: Self.json(#""settings":{"alertStyle":"none"}"#))
        #expect(!only.settings.isEmpty && text(only.json).contains(#""settings":{"alertStyle":"none"}"#))
    }

    @Test("the values are those of UserNotifications, in the order of their numbers")
    func values() {
        let statuses = ["notDetermined", "denied", "authorized", "provisional", "ephemeral"]
        #expect(AuthorizationStatus.allCases.map(\.rawValue) == statuses)
        #expect(NotificationSetting.allCases.map(\.rawValue) == ["notSupported", "disabled", "enabled"])
        #expect(AlertStyle.allCases.map(\.rawValue) == ["none", "banner", "alert"])
        #expect(ShowPreviews.allCases.map(\.rawValue) == ["always", "whenAuthenticated", "never"])
        let names = [
            "sound", "badge", "alert", "notificationCenter", "lockScreen", "carPlay", "criticalAlert", "announcement",
            "scheduledDelivery", "timeSensitive", "directMessages",
        ]
        #expect(Set(DeviceSettings.Name.allCases.map(\.rawValue)) == Set(names))
    }

    @Test("the hash of a token matches another implementation, and is that of one application and platform")
    func hashes() throws {
        let device = try DeviceRegistration(platform: "apns", token: Self.token.uppercased())
        let hash = device.tokenHash(application: "shop")
        #expect(hash == "a5409df465c1fc2be16ca18251c24a43762c22695c5ba0e8fcbd3ba7c98699b6")
        #expect(hash != device.tokenHash(application: "shop2"))
        #expect(hash != (try DeviceRegistration(platform: "apns2", token: Self.token).tokenHash(application: "shop")))
    }
}

@Suite("Device events and claims of tokens")
struct DeviceEventTests {
    private let key: NotificationKey

    init() throws { key = try NotificationKey(application: "shop", recipient: "user-42", identifier: "iphone-1") }

    @Test("an event is written in the contract's order, and its id matches another implementation")
    func event() throws {
        let event = DeviceEvent(
            name: .retired,
            key: key,
            at: Timestamp(rawValue: 1_795_251_600_000),
            platform: "apns",
            reason: .unregistered,
            shows: ["a", "b"]
        )
        #expect(
            text(event.json) == #"{"application":"shop","recipient":"user-42","device":"iphone-1","platform":"apns","#
                + #""at":"2026-11-21T09:00:00.000Z","reason":"unregistered","shows":["a","b"]}"#
        )
        #expect(try DeviceEvent(json: event.json, name: .retired) == event)
        #expect(event.eventID.description == "285c06e7-1034-58fa-b9d8-0c042f980648")
        var other = event
        other.name = .registered
        #expect(other.eventID != event.eventID)
    }

    @Test("every name maps to its type, and the type to its name", arguments: DeviceEvent.Name.allCases)
    func types(_ name: DeviceEvent.Name) {
        #expect(name.type.description == "carillon.device.\(name.rawValue).v1")
        #expect(DeviceEvent.Name(type: name.type.description) == name)
        #expect(DeviceEvent.Name(type: "carillon.notification.\(name.rawValue).v1") == nil)
    }

    @Test("a claim reads back equal; one that is not released does not say it")
    func claim() throws {
        var claim = TokenClaim(owner: key, writtenAt: Timestamp(rawValue: 1_795_251_600_000))
        #expect(try TokenClaim(json: claim.json) == claim)
        #expect(!text(claim.json).contains("released"))
        claim.isReleased = true
        #expect(try TokenClaim(json: claim.json) == claim)
    }
}
