import NotificationModel
import TestSupport

/// Valid requests of every form, the same for the same seed.
enum RandomRequest {
    static func make(using generator: inout SeededGenerator) throws -> NotificationRequest {
        let key = try NotificationKey(
            application: "shop",
            recipient: word(&generator),
            identifier: word(&generator)
        )
        var request = NotificationRequest(
            requestID: chance(&generator) ? RequestID.random(using: &generator) : try RequestID(text: word(&generator)),
            key: key,
            version: chance(&generator) ? Int64.random(in: 0...Int64.max, using: &generator) : nil,
            content: content(&generator),
            trigger: trigger(&generator),
            expiration: chance(&generator) ? instant(&generator) : nil,
            collapseWindow: chance(&generator) ? Double(Int.random(in: 0...86_400_000, using: &generator)) / 1000 : nil,
            channel: chance(&generator) ? ChannelName.allCases.randomElement(using: &generator) : nil
        )
        request.limits = limits(of: request, &generator)
        return request
    }

    private static func limits(
        of request: NotificationRequest,
        _ generator: inout SeededGenerator
    ) -> DeliveryLimits? {
        let start = Int.random(in: 0...1439, using: &generator)
        let hasGroup = request.content.threadIdentifier?.isEmpty == false && !request.trigger.repeats
        return DeliveryLimits(
            quietHours: chance(&generator)
                ? QuietHours(
                    start: start,
                    end: (start + Int.random(in: 1...1439, using: &generator)) % 1440,
                    policy: chance(&generator) ? .hold : .suppress,
                    timeZone: chance(&generator) ? "Australia/Lord_Howe" : nil
                ) : nil,
            cap: chance(&generator)
                ? DeliveryCap(
                    count: Int.random(in: 1...1000, using: &generator),
                    period: Int64.random(in: 1000...2_678_400_000, using: &generator)
                ) : nil,
            digest: hasGroup && chance(&generator)
                ? DigestPolicy(
                    by: .thread,
                    window: Int64.random(in: 1000...86_400_000, using: &generator),
                    title: chance(&generator) ? "{{count}} ×" : nil
                ) : nil
        )
    }

    private static func chance(_ generator: inout SeededGenerator) -> Bool {
        Bool.random(using: &generator)
    }

    private static func word(_ generator: inout SeededGenerator) -> String {
        let parts = ["a", "/", "%", "..", "é", "张三", "📦", " ", "\"", "\\", "~", "%00", "e\u{301}", "order-1", "'", "{"]
        return (0...Int.random(in: 0...5, using: &generator)).map { _ in
            parts.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private static func maybe(_ generator: inout SeededGenerator) -> String? {
        chance(&generator) ? word(&generator) : nil
    }

    private static func instant(_ generator: inout SeededGenerator) -> Timestamp {
        Timestamp(
            rawValue: Int64.random(in: Timestamp.earliest.rawValue...Timestamp.latest.rawValue, using: &generator)
        )
    }

    private static func values(in range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> CalendarValues {
        CalendarValues(
            (0...Int.random(in: 0...2, using: &generator)).map { _ in Int.random(in: range, using: &generator) }
        )
    }

    private static func unit(_ generator: inout SeededGenerator) -> Double {
        Double.random(in: 0...1, using: &generator)
    }

    private static func content(_ generator: inout SeededGenerator) -> NotificationContent {
        let counts = chance(&generator)
        var content = NotificationContent(
            title: word(&generator) + "\n\u{1}",
            subtitle: maybe(&generator),
            body: maybe(&generator),
            titleLocalization: chance(&generator)
                ? Localization(key: word(&generator), arguments: [word(&generator)]) : nil,
            bodyLocalization: chance(&generator) ? Localization(key: word(&generator)) : nil,
            badge: counts && chance(&generator) ? Int64.random(in: 0...99, using: &generator) : nil,
            badgeIncrement: !counts && chance(&generator) ? Int64.random(in: 1...99, using: &generator) : nil,
            sound: chance(&generator)
                ? NotificationSound(
                    name: word(&generator),
                    critical: chance(&generator) ? true : nil,
                    volume: unit(&generator)
                )
                : NotificationSound(name: word(&generator)),
            categoryIdentifier: maybe(&generator),
            threadIdentifier: maybe(&generator),
            interruptionLevel: InterruptionLevel.allCases.randomElement(using: &generator),
            presentation: [.unhandled, .options([]), .options([.list, .badge]), nil].randomElement(using: &generator)
                ?? nil,
            relevanceScore: unit(&generator),
            filterCriteria: maybe(&generator),
            summaryArgumentCount: chance(&generator) ? 2 : nil,
            mutableContent: chance(&generator) ? false : nil,
            attachments: (0..<Int.random(in: 0...10, using: &generator)).map { index in
                NotificationAttachment(
                    identifier: "\(index)" + word(&generator),
                    url: "https://e\(index).com/a%20b?c=d",
                    options: chance(&generator)
                        ? NotificationAttachment.Options(
                            typeHint: word(&generator),
                            thumbnailClippingRect: NotificationAttachment.ClippingRect(
                                x: unit(&generator),
                                y: 0,
                                width: 1,
                                height: unit(&generator)
                            ),
                            thumbnailTime: unit(&generator) * 1000
                        ) : nil
                )
            },
            userInfo: chance(&generator)
                ? .object([
                    JSONValue.Member(word(&generator), .number("1.50")),
                    JSONValue.Member(word(&generator), .array([.null, .bool(true), .object([])])),
                ]) : nil
        )
        // A passive notification plays none.
        if content.interruptionLevel == .passive { content.sound?.critical = nil }
        return content
    }

    private static func trigger(_ generator: inout SeededGenerator) -> NotificationTrigger {
        switch Int.random(in: 0...3, using: &generator) {
        case 0:
            return .push
        case 1:
            let repeats = chance(&generator)
            return .timeInterval(
                TimeIntervalTrigger(
                    timeInterval: repeats ? 60 + unit(&generator) * 1e6 : 0.001 + unit(&generator),
                    repeats: repeats,
                    misfire: MisfirePolicy.allCases.randomElement(using: &generator),
                    jitter: chance(&generator) ? unit(&generator) : nil
                )
            )
        case 2:
            let day = chance(&generator) ? values(in: 1...31, &generator) : nil
            return .calendar(
                CalendarTrigger(
                    dateComponents: CalendarComponents(
                        weekday: day == nil && chance(&generator) ? values(in: 1...7, &generator) : nil,
                        day: day,
                        hour: values(in: 0...23, &generator),
                        minute: chance(&generator) ? Int.random(in: 0...59, using: &generator) : nil
                    ),
                    timeZone: ["UTC", "Asia/Shanghai", "America/New_York", nil].randomElement(using: &generator) ?? nil,
                    repeats: chance(&generator),
                    notBefore: chance(&generator) ? instant(&generator) : nil,
                    gap: GapPolicy.allCases.randomElement(using: &generator),
                    overlap: chance(&generator) ? OverlapPolicy.allCases.randomElement(using: &generator) : nil,
                    missingDay: day == nil ? nil : MissingDayPolicy.allCases.randomElement(using: &generator)
                )
            )
        default:
            return .location(
                LocationTrigger(
                    region: CircularRegion(
                        latitude: unit(&generator) * 180 - 90,
                        longitude: unit(&generator) * 360 - 180,
                        radius: 1 + unit(&generator) * 1e6
                    ),
                    notifyOnEntry: true,
                    notifyOnExit: chance(&generator),
                    repeats: chance(&generator)
                )
            )
        }
    }
}
