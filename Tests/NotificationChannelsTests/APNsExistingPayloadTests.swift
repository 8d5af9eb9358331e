import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

/// A content becomes a payload, and that payload a content.
@Suite("From content to payload and back")
struct APNsExistingPayloadTests {
    private static func text(_ generator: inout SeededGenerator, emptyAllowed: Bool = true) -> String {
        let pieces = ["a", "é", "e\u{301}", "中文", "😀", "\"", "\\", "/", "\n", "%@", "{", " ", "\u{7F}", "aps"]
        let count = Int.random(in: emptyAllowed ? 0...4 : 1...4, using: &generator)
        return (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
    }

    private static func maybe<Value>(_ generator: inout SeededGenerator, _ make: (inout SeededGenerator) -> Value)
        -> Value?
    {
        Bool.random(using: &generator) ? make(&generator) : nil
    }

    private static func name(_ generator: inout SeededGenerator) -> String {
        ["ORDER", "orders", "ünï", "a b"].randomElement(using: &generator) ?? ""
    }

    private static func localization(_ generator: inout SeededGenerator) -> Localization {
        Localization(
            key: text(&generator, emptyAllowed: false),
            arguments: maybe(&generator) { generator in
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in text(&generator) }
            }
        )
    }

    /// Any content that a request may have.
    static func content(_ generator: inout SeededGenerator) -> NotificationContent {
        var content = NotificationContent(
            title: maybe(&generator) { text(&$0) },
            subtitle: maybe(&generator) { text(&$0) },
            body: maybe(&generator) { text(&$0) },
            titleLocalization: maybe(&generator, localization),
            subtitleLocalization: maybe(&generator, localization),
            bodyLocalization: maybe(&generator, localization)
        )
        content.badge = maybe(&generator) { Int64.random(in: 0...99, using: &$0) }
        if content.badge == nil { content.badgeIncrement = maybe(&generator) { Int64.random(in: 1...9, using: &$0) } }
        content.sound = maybe(&generator) { generator in
            NotificationSound(
                name: text(&generator, emptyAllowed: false),
                critical: maybe(&generator) { Bool.random(using: &$0) },
                volume: maybe(&generator) { Double.random(in: 0...1, using: &$0) }
            )
        }
        (content.categoryIdentifier, content.threadIdentifier) = (maybe(&generator, name), maybe(&generator, name))
        content.launchImageName = maybe(&generator, name)
        content.targetContentIdentifier = maybe(&generator) { text(&$0) }
        content.filterCriteria = maybe(&generator) { text(&$0) }
        content.interruptionLevel = maybe(&generator) {
            InterruptionLevel.allCases.randomElement(using: &$0) ?? .active
        }
        content.relevanceScore = maybe(&generator) { Double.random(in: 0...1, using: &$0) }
        content.summaryArgument = maybe(&generator) { text(&$0) }
        content.summaryArgumentCount = maybe(&generator) { Int64.random(in: 0...9, using: &$0) }
        content.mutableContent = maybe(&generator) { Bool.random(using: &$0) }
        content.presentation = maybe(&generator) { _ in .unhandled }
        content.attachments = maybe(&generator) { generator in
            (0...Int.random(in: 0...2, using: &generator)).map { index in
                NotificationAttachment(
                    identifier: "\(index)",
                    url: "https://e.com/\(index)",
                    options: maybe(&generator) {
                        .init(typeHint: "public.png", thumbnailTime: Double.random(in: 0...9, using: &$0))
                    }
                )
            }
        }
        content.userInfo = maybe(&generator) { generator in
            .object([
                .init(
                    "k" + text(&generator),
                    .array([.null, .bool(false), .number("1.50"), .string(text(&generator))])
                ),
                .init("aps", .number("1")),
            ])
        }
        return content
    }

    /// What of a content a payload says when a device shows all of it.
    private static func sayable(_ content: NotificationContent) -> NotificationContent {
        var said = content
        // A key takes the place of its text.
        if said.titleLocalization != nil { said.title = nil }
        if said.subtitleLocalization != nil { said.subtitle = nil }
        if said.bodyLocalization != nil { said.body = nil }
        let texts = [said.title, said.subtitle, said.body].compactMap { $0 }
        let hasAlert =
            texts.contains { !$0.isEmpty } || said.titleLocalization != nil || said.subtitleLocalization != nil
            || said.bodyLocalization != nil
        if !hasAlert {
            (said.title, said.subtitle, said.body, said.launchImageName) = (nil, nil, nil, nil)
            (said.summaryArgument, said.summaryArgumentCount, said.interruptionLevel) = (nil, nil, nil)
            (said.mutableContent, said.attachments) = (nil, nil)
        }
        if said.mutableContent == false { said.mutableContent = nil }
        if said.sound?.critical != true { said.sound = said.sound.map { NotificationSound(name: $0.name) } }
        // The device's number, and what its app does in the foreground, are no part of a payload.
        (said.badgeIncrement, said.presentation) = (nil, nil)
        let isSilent = !hasAlert && said.sound == nil && said.badge == nil
        if isSilent { said = NotificationContent(userInfo: said.userInfo) }
        if case .object(let members)? = said.userInfo {
            said.userInfo = .object(members.filter { $0.name != "aps" && $0.name != "carillon" })
        }
        return said
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a payload says all of a content that APNs has words for`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let content = Self.content(&generator)
            // What a request refuses is no content.
            guard (try? NotificationContent(json: content.json)) != nil else { continue }
            let delivery = DeviceDelivery(content: content.json[...], badge: content.badge)
            let push = try APNsPush(delivery, bundle: "a.b", oversize: .refuse)
            let expected = Self.sayable(content)
            guard (try? NotificationContent(json: expected.json)) != nil else {
                // Nothing is left that a request would have.
                #expect(push.headers.pushType == .background)
                continue
            }
            let read = try ExistingAPNsPayload(json: push.payload)
            #expect(read.content == expected, "seed \(seed): \(String(decoding: push.payload, as: UTF8.self))")
            #expect(read.unsaid.isEmpty, "\(read.unsaid)")
            // What went there and back says the same again.
            let again = try APNsPush(
                DeviceDelivery(content: read.content.json[...], badge: read.content.badge),
                bundle: "a.b",
                oversize: .refuse
            )
            #expect(again.payload == push.payload)
        }
    }

    @Test(arguments: 100...120 as ClosedRange<UInt64>)
    func `no content has a payload that Apple would refuse`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let content = Self.content(&generator)
            guard (try? NotificationContent(json: content.json)) != nil else { continue }
            let presentation = PresentationOptions(rawValue: UInt8.random(in: 0...31, using: &generator))
            let delivery = DeviceDelivery(
                content: content.json[...],
                presentation: presentation,
                badge: Bool.random(using: &generator) ? 4 : nil
            )
            let push = try APNsPush(delivery, bundle: "a.b")
            let refused = push.problems().filter { $0.severity == .refused }
            #expect(refused.isEmpty, "seed \(seed): \(refused) \(String(decoding: push.payload, as: UTF8.self))")
        }
    }
}
