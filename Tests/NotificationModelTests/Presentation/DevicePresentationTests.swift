import NotificationModel
import NotificationState
import Testing

@Suite("How a device presents a notification")
struct DevicePresentationTests {
    private static let full = #"{"title":"t","sound":"default","badge":3}"#
    private static let all: PresentationOptions = [.banner, .list, .sound, .badge]

    private func present(
        _ json: String,
        _ settings: [DeviceSettings.Name: NotificationSetting] = [:],
        alertStyle: AlertStyle? = nil,
        status: AuthorizationStatus = .authorized,
        isForeground: Bool = false,
        category: ForegroundPolicy? = nil
    ) -> DevicePresentation {
        var known = DeviceSettings()
        for (name, setting) in settings { known[name] = setting }
        known.alertStyle = alertStyle
        return DevicePresentation(
            of: ContentFacts(bytes(json)[...]),
            status: status,
            settings: known,
            isForeground: isForeground,
            category: category
        )
    }

    @Test(
        "a device without authorization is left out",
        arguments: [AuthorizationStatus.notDetermined, .denied],
        [false, true]
    )
    func unauthorized(_ status: AuthorizationStatus, _ isForeground: Bool) {
        for json in [Self.full, #"{"userInfo":{"a":1}}"#] {
            let result = present(json, status: status, isForeground: isForeground, category: .unhandled)
            #expect(result.verdict == .left(.notAuthorized) && result.decider == .system)
        }
    }

    @Test(
        "a status decides what is shown",
        arguments: [
            (.authorized, all), (.ephemeral, all), (.provisional, [.list, .badge]),
        ] as [(AuthorizationStatus, PresentationOptions)]
    )
    func statuses(_ status: AuthorizationStatus, _ options: PresentationOptions) {
        #expect(present(Self.full, status: status).verdict == .presented(options))
    }

    @Test(
        "each part of a content asks for its own options",
        arguments: [
            (#"{"title":"t"}"#, [.banner, .list]), (#"{"sound":"default"}"#, [.sound]), (#"{"badge":0}"#, [.badge]),
            (#"{"badgeIncrement":1}"#, [.badge]), (full, all),
        ] as [(String, PresentationOptions)]
    )
    func parts(_ json: String, _ options: PresentationOptions) {
        #expect(present(json).verdict == .presented(options))
    }

    @Test(
        "a setting takes away what it is about, whether disabled or not supported",
        arguments: [
            (.alert, [.sound, .badge]), (.sound, [.banner, .list, .badge]), (.badge, [.banner, .list, .sound]),
            (.notificationCenter, [.banner, .sound, .badge]), (.lockScreen, all), (.carPlay, all),
            (.criticalAlert, all), (.announcement, all), (.scheduledDelivery, all), (.timeSensitive, all),
            (.directMessages, all),
        ] as [(DeviceSettings.Name, PresentationOptions)]
    )
    func settings(_ name: DeviceSettings.Name, _ options: PresentationOptions) {
        #expect(present(Self.full, [name: .disabled]).verdict == .presented(options))
        #expect(present(Self.full, [name: .notSupported]).verdict == .presented(options))
        #expect(present(Self.full, [name: .enabled]).verdict == .presented(Self.all))
    }

    @Test("the alert style none takes the banner away, and leaves the list")
    func alertStyle() {
        #expect(present(Self.full, alertStyle: .nothing).verdict == .presented([.list, .sound, .badge]))
        for style in [AlertStyle.banner, .alert] {
            #expect(present(Self.full, alertStyle: style).verdict == .presented(Self.all))
        }
        let inFront = present(Self.full, alertStyle: .nothing, isForeground: true, category: .options([.banner]))
        #expect(inFront.verdict == .presented([]))
        let unlisted = present(#"{"title":"t"}"#, [.notificationCenter: .disabled], alertStyle: .nothing)
        #expect(unlisted.verdict == .left(.disabled))
    }

    @Test("what an app reads before it asks, after Allow and after Don't Allow")
    func answers() {
        func every(_ setting: NotificationSetting) -> [DeviceSettings.Name: NotificationSetting] {
            Dictionary(uniqueKeysWithValues: DeviceSettings.Name.allCases.map { ($0, setting) })
        }
        func verdict(_ status: AuthorizationStatus, _ setting: NotificationSetting, _ style: AlertStyle)
            -> DevicePresentation.Verdict
        {
            present(Self.full, every(setting), alertStyle: style, status: status).verdict
        }
        #expect(verdict(.notDetermined, .notSupported, .nothing) == .left(.notAuthorized))
        #expect(verdict(.authorized, .enabled, .banner) == .presented(Self.all))
        #expect(verdict(.denied, .disabled, .nothing) == .left(.notAuthorized))
    }

    @Test("a device whose settings allow nothing of the content is left out as disabled")
    func disabled() {
        #expect(present(#"{"title":"t"}"#, [.alert: .disabled]).verdict == .left(.disabled))
        #expect(present(#"{"sound":"a"}"#, [.sound: .disabled]).verdict == .left(.disabled))
        #expect(present(#"{"badge":1}"#, [.badge: .disabled]).verdict == .left(.disabled))
        let nothing: [DeviceSettings.Name: NotificationSetting] = [
            .alert: .disabled, .sound: .disabled, .badge: .disabled,
        ]
        #expect(present(Self.full, nothing).verdict == .left(.disabled))
        #expect(
            present(Self.full, nothing, isForeground: true, category: .options(Self.all)).verdict == .left(.disabled)
        )
        // Quiet delivery has no place for a sound, and a passive notification only one in the list.
        #expect(present(#"{"sound":"a"}"#, status: .provisional).verdict == .left(.disabled))
        let passive = #"{"title":"t","interruptionLevel":"passive"}"#
        #expect(present(passive, [.notificationCenter: .disabled]).verdict == .left(.disabled))
    }

    @Test(
        "a content that asks for nothing is data for the app, and not left out",
        arguments: [
            #"{"userInfo":{"a":1}}"#, #"{"sound":"a","interruptionLevel":"passive"}"#,
        ]
    )
    func data(_ json: String) {
        let off: [DeviceSettings.Name: NotificationSetting] = [.alert: .disabled, .sound: .disabled, .badge: .disabled]
        for status in [AuthorizationStatus.authorized, .provisional, .ephemeral] {
            #expect(present(json, status: status).verdict == .presented([]))
            #expect(present(json, off, status: status).verdict == .presented([]))
        }
    }

    @Test(
        "a level that the settings do not allow counts as the next lower one",
        arguments: [
            (.passive, [:], .passive), (.active, [:], .active), (.timeSensitive, [:], .timeSensitive),
            (.critical, [:], .critical), (.passive, [.timeSensitive: .disabled, .criticalAlert: .disabled], .passive),
            (.active, [.timeSensitive: .disabled, .criticalAlert: .disabled], .active),
            (.timeSensitive, [.timeSensitive: .disabled], .active),
            (.timeSensitive, [.timeSensitive: .notSupported], .active),
            (.timeSensitive, [.criticalAlert: .disabled], .timeSensitive),
            (.critical, [.criticalAlert: .disabled], .timeSensitive),
            (.critical, [.timeSensitive: .disabled], .critical),
            (.critical, [.criticalAlert: .notSupported, .timeSensitive: .disabled], .active),
        ] as [(InterruptionLevel, [DeviceSettings.Name: NotificationSetting], InterruptionLevel)]
    )
    func levels(
        _ level: InterruptionLevel,
        _ settings: [DeviceSettings.Name: NotificationSetting],
        _ expected: InterruptionLevel
    ) {
        #expect(present(#"{"title":"t","interruptionLevel":"\#(level.rawValue)"}"#, settings).level == expected)
    }

    @Test("a passive notification is only added to the list", arguments: [false, true])
    func passive(_ isForeground: Bool) {
        let json = #"{"title":"t","sound":"a","badge":1,"interruptionLevel":"passive"}"#
        let result = present(json, isForeground: isForeground, category: .options(Self.all))
        #expect(result.verdict == .presented([.list, .badge]))
    }

    @Test("a critical sound passes where sounds are off only if critical alerts are enabled")
    func criticalSound() {
        let json = #"{"title":"t","sound":{"name":"a","critical":true},"interruptionLevel":"critical"}"#
        let alert: PresentationOptions = [.banner, .list]
        #expect(present(json, [.sound: .disabled]).verdict == .presented(alert))
        #expect(present(json, [.sound: .disabled, .criticalAlert: .disabled]).verdict == .presented(alert))
        #expect(
            present(json, [.sound: .disabled, .criticalAlert: .enabled]).verdict == .presented(alert.union(.sound))
        )
        let plain = #"{"title":"t","sound":"a","interruptionLevel":"critical"}"#
        #expect(present(plain, [.sound: .disabled, .criticalAlert: .enabled]).verdict == .presented(alert))
    }

    @Test("in the background no policy counts")
    func background() {
        let result = present(#"{"title":"t","presentation":null}"#, category: .options([]))
        #expect(result.verdict == .presented([.banner, .list]) && result.decider == .system)
    }

    @Test(
        "in the foreground the delegate decides, and without one the notification's own options count",
        arguments: [
            // The notification's policy, the category's, what is shown, who decided.
            ("", .options([.banner, .sound]), [.banner, .sound], .category),
            ("", .options([]), [], .category),
            ("", .unhandled, [], .unhandled),
            ("", nil, all, .noDelegate),
            (#","presentation":["list"]"#, .options([.banner]), [.list], .notification),
            (#","presentation":["alert"]"#, .unhandled, [.banner, .list], .notification),
            (#","presentation":[]"#, nil, [], .notification),
            (#","presentation":null"#, .options([.banner]), [], .unhandled),
            (#","presentation":null"#, nil, [], .unhandled),
        ] as [(String, ForegroundPolicy?, PresentationOptions, DevicePresentation.Decider)]
    )
    func foreground(
        _ own: String,
        _ category: ForegroundPolicy?,
        _ options: PresentationOptions,
        _ decider: DevicePresentation.Decider
    ) {
        let json = #"{"title":"t","sound":"a","badge":1\#(own)}"#
        let result = present(json, isForeground: true, category: category)
        #expect(result.verdict == .presented(options) && result.decider == decider)
    }

    @Test("a delegate shows neither what the content has not nor what the settings do not allow")
    func delegateLimits() {
        let policy = ForegroundPolicy.options(Self.all)
        #expect(
            present(#"{"title":"t"}"#, isForeground: true, category: policy).verdict == .presented([.banner, .list])
        )
        #expect(
            present(Self.full, [.sound: .disabled], isForeground: true, category: policy).verdict
                == .presented([.banner, .list, .badge])
        )
    }

    @Test("who decided has a name of its own in each case")
    func deciders() {
        let names = DevicePresentation.Decider.allCases.map(\.rawValue)
        #expect(names == ["system", "notification", "category", "no-method", "no-delegate"])
    }

    @Test("presentation options have the bits of UserNotifications and are written by name")
    func bits() {
        let bits: [PresentationOptions] = [.badge, .sound, .list, .banner]
        #expect(bits.map(\.rawValue) == [1, 2, 8, 16])
        var out: [UInt8] = []
        Self.all.write(to: &out)
        #expect(text(out) == #"["banner","list","sound","badge"]"#)
    }
}
