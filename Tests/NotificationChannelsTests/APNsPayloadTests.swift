import NotificationDelivery
import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

@Suite("Payloads of APNs")
struct APNsPayloadTests {
    /// Every property of a content.
    private static let full = #"""
        {"title":"On its way","subtitle":"Order 1001","body":"Your order has shipped.",
         "badge":3,"sound":{"name":"bell.caf","critical":true,"volume":0.8},
         "categoryIdentifier":"ORDER","threadIdentifier":"orders","launchImageName":"order",
         "targetContentIdentifier":"orders/1001","interruptionLevel":"critical","relevanceScore":0.5,
         "filterCriteria":"work","summaryArgument":"Shop","summaryArgumentCount":2,"mutableContent":true,
         "attachments":[{"identifier":"photo","url":"https://cdn.example.com/1001.jpg",
           "options":{"typeHint":"public.jpeg","thumbnailClippingRect":{"x":0,"y":0,"width":1,"height":0.5}}}],
         "userInfo":{"orderId":"1001","nested":{"a":[1,2.50,null,true]}}}
        """#

    @Test func `every property of a content is in the payload, and its options in the headers`() throws {
        let push = try APNsSample.push(APNsSample.delivery(Self.full, badge: 4, expiration: APNsSample.occurrence))
        #expect(push.changes.isEmpty && push.problems().isEmpty, "\(push.problems())")
        let own = APNsSample.own.dropLast(1)
        #expect(
            try isSame(
                push.payload,
                #"""
                {"aps":{"alert":{"title":"On its way","subtitle":"Order 1001","body":"Your order has shipped.",
                  "launch-image":"order","summary-arg":"Shop","summary-arg-count":2},
                  "badge":4,"sound":{"critical":1,"name":"bell.caf","volume":0.8},"interruption-level":"critical",
                  "thread-id":"orders","category":"ORDER","target-content-id":"orders/1001","filter-criteria":"work",
                  "relevance-score":0.5,"mutable-content":1},
                 \#(own),"attachments":[{"identifier":"photo","url":"https://cdn.example.com/1001.jpg","options":
                   {"typeHint":"public.jpeg","thumbnailClippingRect":{"x":0,"y":0,"width":1,"height":0.5}}}]},
                 "orderId":"1001","nested":{"a":[1,2.50,null,true]}}
                """#
            ),
            "\(String(decoding: push.payload, as: UTF8.self))"
        )
        #expect(push.headers.topic == "com.example.shop" && push.headers.pushType == .alert)
        #expect(push.headers.id == APNsSample.id && push.headers.expiration == 1_795_251_600)
        #expect(push.headers.priority == .immediate)
        #expect(try push.headers.collapseID == CollapseID(APNsSample.origin().key).text)
    }

    @Test func `a localization key takes the place of its text`() throws {
        let content = #"""
            {"title":"T","titleLocalization":{"key":"T_KEY","arguments":["a","b"]},
             "subtitleLocalization":{"key":"S_KEY"},"body":"B","bodyLocalization":{"key":"B_KEY","arguments":[]}}
            """#
        let push = try APNsSample.push(APNsSample.delivery(content))
        let alert = try JSONValue.parse(push.payload)["aps"]?["alert"]
        let expected = #"""
            {"title-loc-key":"T_KEY","title-loc-args":["a","b"],"subtitle-loc-key":"S_KEY","loc-key":"B_KEY","loc-args":[]}
            """#
        #expect(try isSame(#require(alert).json, expected))
        #expect(push.problems().isEmpty)
    }

    @Test func `the device's presentation decides what it gets`() throws {
        let content = #"{"title":"T","sound":"bell.caf","badge":3,"interruptionLevel":"timeSensitive"}"#
        func aps(_ presentation: PresentationOptions, badge: Int64? = 7) throws -> (String, APNsHeaders) {
            let push = try APNsSample.push(APNsSample.delivery(content, presentation: presentation, badge: badge))
            #expect(push.problems().isEmpty, "\(push.problems())")
            let aps = try #require(try JSONValue.parse(push.payload)["aps"])
            return (String(decoding: aps.json, as: UTF8.self), push.headers)
        }
        let all = try aps([.banner, .list, .sound, .badge])
        #expect(
            all.0 == #"{"alert":{"title":"T"},"badge":7,"sound":"bell.caf","interruption-level":"time-sensitive"}"#
        )
        #expect(all.1.priority == .immediate && all.1.pushType == .alert)
        let listed = try aps([.list])
        #expect(listed.0 == #"{"alert":{"title":"T"},"interruption-level":"passive"}"#)
        #expect(listed.1.priority == .saving, "it does not disturb, so it may wait for the battery")
        let heard = try aps([.list, .sound])
        #expect(
            heard.0 == #"{"alert":{"title":"T"},"sound":"bell.caf","interruption-level":"time-sensitive"}"#,
            "a passive one would play no sound"
        )
        #expect(heard.1.priority == .immediate)
        #expect(try aps([.badge]).0 == #"{"badge":7}"# && aps([.badge]).1.priority == .saving)
        #expect(try aps([.sound]).0 == #"{"sound":"bell.caf"}"# && aps([.sound]).1.priority == .immediate)
        for presentation in [[], [.badge]] as [PresentationOptions] {
            let nothing = try aps(presentation, badge: nil)
            #expect(nothing.0 == #"{"content-available":1}"#)
            #expect(nothing.1.pushType == .background && nothing.1.priority == .saving)
        }
    }

    @Test func `a device's level takes the place of the content's`() throws {
        func level(_ content: String, _ level: InterruptionLevel?) throws -> JSONValue? {
            let push = try APNsSample.push(APNsSample.delivery(content, level: level))
            return try JSONValue.parse(push.payload)["aps"]?["interruption-level"]
        }
        #expect(try level(#"{"title":"T","interruptionLevel":"timeSensitive"}"#, .active) == .string("active"))
        #expect(try level(#"{"title":"T","interruptionLevel":"passive"}"#, nil) == .string("passive"))
        #expect(try level(#"{"title":"T"}"#, nil) == nil)
    }

    @Test func `what is shown again quietly has neither banner nor sound`() throws {
        let device = try PresentedDevice(
            list: Array(
                #"""
                [{"device":"iphone-1","outcome":"accepted","platform":"apns","presentation":["banner","list","sound","badge"],
                  "badge":2,"decidedBy":"system","locale":"zh-Hans-CN","interruptionLevel":"active"}]
                """#.utf8
            )[...]
        )
        #expect(device.name == "iphone-1" && device.badge == 2 && device.interruptionLevel == .active)
        let content = Array(#"{"title":"T","sound":"default"}"#.utf8)[...]
        var send = try send("order-1", kind: .deliver(content: content))
        send.isQuiet = true
        let quiet = try APNsPush(DeviceDelivery(send, content: content, to: device), bundle: "com.example.shop")
        let aps = try JSONValue.parse(quiet.payload)["aps"]
        #expect(
            aps?["sound"] == nil && aps?["interruption-level"] == .string("passive") && aps?["badge"] == .number("2")
        )
        #expect(quiet.headers.collapseID == CollapseID(send.key).text && quiet.headers.id == send.id)
        send.isQuiet = false
        let loud = try APNsPush(DeviceDelivery(send, content: content, to: device), bundle: "com.example.shop")
        #expect(try JSONValue.parse(loud.payload)["aps"]?["sound"] == .string("default"))
    }

    @Test func `nothing of the content takes the place of aps or of Carillon's member`() throws {
        let content = #"{"title":"T","userInfo":{"\u0061ps":{"alert":"fake"},"carillon":1,"orderId":2,"":3}}"#
        let push = try APNsSample.push(APNsSample.delivery(content))
        #expect(push.changes == [.memberLeftOut("userInfo.aps"), .memberLeftOut("userInfo.carillon")])
        #expect(push.changes.map(\.description) == ["userInfo.aps-left-out", "userInfo.carillon-left-out"])
        #expect(try isSame(push.payload, #"{"aps":{"alert":{"title":"T"}},\#(APNsSample.own),"orderId":2,"":3}"#))
    }

    @Test func `the first device of a list is the one that gets it`() throws {
        let list = Array(#"[{"device":"a","badge":1},{"device":"b","badge":2}]"#.utf8)
        let device = try PresentedDevice(list: list[...])
        #expect(device.name == "a" && device.badge == 1)
        #expect(throws: ModelError.self) { try PresentedDevice(list: Array("[]".utf8)[...]) }
    }

    @Test func `the payload is the shortest JSON, however the content is written`() throws {
        let content = #"""
            { "title" : "\u4e2d\u6587 \ud83d\ude00 \/ \"q\"" ,
              "userInfo" : { "a" : [ 1 , "\u00e9" ] , "b\u0301" : { } } }
            """#
        let push = try APNsPush(
            DeviceDelivery(content: Array(content.utf8)[...]),
            bundle: APNsSample.bundle
        )
        let expected = #"{"aps":{"alert":{"title":"中文 😀 / \"q\""}},"a":[1,"é"],"b\#u{301}":{}}"#
        #expect(String(decoding: push.payload, as: UTF8.self) == expected)
        #expect(push.payload == Array(expected.utf8))
    }

    @Test func `the variant of the device's locale takes the place of texts and of localization keys`() throws {
        let content =
            #"{"title":"T","subtitle":"S","body":"B","titleLocalization":{"key":"K"},"#
            + #""localizations":{"en":{"title":"E"},"de":{"title":"D","body":"\u00e9"}}}"#
        var delivery = try APNsSample.delivery(content)
        delivery.localization = "de"
        let german = try JSONValue.parse(APNsSample.push(delivery).payload)
        #expect(try german["aps"]?["alert"] == JSONValue.parse(Array(#"{"title":"D","subtitle":"S","body":"é"}"#.utf8)))
        delivery.localization = nil
        let other = try JSONValue.parse(APNsSample.push(delivery).payload)
        #expect(
            try other["aps"]?["alert"]
                == JSONValue.parse(Array(#"{"title-loc-key":"K","subtitle":"S","body":"B"}"#.utf8))
        )
    }

    @Test func `mutable content without a text to show, and critical without a critical sound, are not asked for`()
        throws
    {
        let silent = try APNsSample.push(APNsSample.delivery(#"{"sound":"default","mutableContent":true}"#))
        #expect(try JSONValue.parse(silent.payload)["aps"]?["mutable-content"] == nil)
        let volume = try APNsSample.push(APNsSample.delivery(#"{"title":"T","sound":{"name":"a.caf","volume":0.5}}"#))
        #expect(try JSONValue.parse(volume.payload)["aps"]?["sound"] == .string("a.caf"))
        let plain = try APNsSample.push(APNsSample.delivery(#"{"title":"T","sound":{"critical":true}}"#))
        #expect(
            try isSame(
                #require(try JSONValue.parse(plain.payload)["aps"]?["sound"]).json,
                #"{"critical":1,"name":"default"}"#
            )
        )
    }

    @Test(arguments: ["{", "[]", #"{"title":5}"#, #"{"interruptionLevel":"loud"}"#, #"{"titleLocalization":{}}"#])
    func `what is no content is refused without a trap`(_ content: String) throws {
        #expect(throws: ModelError.self) { try APNsSample.push(APNsSample.delivery(content)) }
    }

    @Test(arguments: APNsPushType.allCases)
    func `a content as any type of push keeps the rules of that type`(_ type: APNsPushType) throws {
        let content = Array(#"{"title":"T","body":"B","sound":"default","userInfo":{"mdm":"magic","a":1}}"#.utf8)[...]
        let push = try APNsPush(DeviceDelivery(content: content), as: type, bundle: APNsSample.bundle)
        #expect(push.headers.pushType == type && push.headers.topic == type.topic(of: APNsSample.bundle))
        // A Live Activity has members that no content has.
        guard type != .liveactivity else { return }
        #expect(push.problems().isEmpty, "\(push.problems())")
    }

    // MARK: - Removals

    @Test func `a removal asks the app in the background, many with one push that fits`() throws {
        let time = APNsSample.occurrence
        let items = try (0..<60).map { index in
            APNsRemoval.Item(
                key: try NotificationKey(application: "shop", recipient: "ana", identifier: "order-\(index)"),
                sequence: OperationSequence(life: .max, offset: .max - 1, time: time)
            )
        }
        let push = APNsRemoval.request(items + items, id: APNsSample.id, bundle: APNsSample.bundle)
        #expect(push.problems().isEmpty, "\(push.problems())")
        #expect(push.headers.pushType == .background && push.headers.collapseID == nil)
        #expect(push.headers.priority == .saving)
        let payload = try JSONValue.parse(push.payload)
        #expect(payload["aps"] == .object([.init("content-available", .number("1"))]))
        let remove = try #require(payload["carillon"]?["remove"]?.objectValue)
        #expect(remove.map(\.name) == items.prefix(APNsRemoval.maximumItems).map(\.collapseID))
    }

    @Test func `of two removals of a notification the later one counts, and a delivery after it has a higher sequence`()
        throws
    {
        let key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order-1001")
        func item(_ offset: Int64) -> APNsRemoval.Item {
            APNsRemoval.Item(
                key: key,
                sequence: OperationSequence(life: 0, offset: offset, time: APNsSample.occurrence)
            )
        }
        let push = APNsRemoval.request([item(39), item(40)], id: APNsSample.id, bundle: APNsSample.bundle)
        let members = try #require(try JSONValue.parse(push.payload)["carillon"]?["remove"]?.objectValue)
        try #require(members.count == 1)
        #expect(members[0].value == .string(item(40).sequence.text))
        let delivery = try APNsSample.push(APNsSample.delivery(#"{"title":"T"}"#))
        let shown = try #require(try JSONValue.parse(delivery.payload)["carillon"]?["sequence"]?.stringValue)
        #expect(try shown > #require(members[0].value.stringValue))
        #expect(delivery.headers.collapseID == members[0].name, "the device knows the notification by it")
    }

    @Test func `a notification that is overwritten is shown in the list only, without a sound`() throws {
        let origin = try APNsSample.origin()
        let push = try APNsRemoval.overwrite(
            with: "Withdrawn.",
            id: APNsSample.id,
            origin: origin,
            bundle: APNsSample.bundle
        )
        #expect(push.problems().isEmpty && push.headers.collapseID == CollapseID(origin.key).text)
        #expect(push.headers.priority == .saving && push.headers.pushType == .alert)
        let aps = try #require(try JSONValue.parse(push.payload)["aps"])
        #expect(try isSame(aps.json, #"{"alert":{"body":"Withdrawn."},"interruption-level":"passive"}"#))
    }
}
