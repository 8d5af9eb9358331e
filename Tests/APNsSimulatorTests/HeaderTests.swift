import Testing

@testable import APNsSimulator

/// What APNs refuses because of header fields and paths.
struct HeaderTests {
    @Test func `a push with all of its header fields is accepted, and its id is answered`() throws {
        var desk = try Desk()
        let answer = desk.push {
            ($0.expiration, $0.priority, $0.collapseID) = ("1800000000", "5", "order-1")
        }
        #expect(answer?.status == 200)
        #expect(answer?.id == Desk.id)
        #expect(answer?.json == nil)
        #expect(desk.shown == ["order-1"])
    }

    @Test func `APNs makes an id where the sender gives none, also for a refusal`() throws {
        var desk = try Desk()
        for topic in [Desk.topic, "com.example.other"] {
            let id = desk.push { ($0.id, $0.topic) = (nil, topic) }?.id
            #expect(id.map(PushHeaders.isIdentifier) == true)
        }
    }

    @Test(arguments: [
        ("apns-id", "BadMessageId", "123E4567-E89B-12D3-A456-426614174000"),
        ("apns-id", "BadMessageId", "123e4567e89b12d3a456426614174000"),
        ("apns-expiration", "BadExpirationDate", "-1"), ("apns-expiration", "BadExpirationDate", "1.5"),
        ("apns-expiration", "BadExpirationDate", "soon"), ("apns-expiration", "BadExpirationDate", ""),
        ("apns-expiration", "BadExpirationDate", "99999999999999999999"),
        ("apns-priority", "BadPriority", "7"), ("apns-priority", "BadPriority", "high"),
        ("apns-collapse-id", "BadCollapseId", String(repeating: "a", count: 65)),
        // 64 characters of 128 bytes.
        ("apns-collapse-id", "BadCollapseId", String(repeating: "é", count: 64)),
        ("apns-collapse-id", "BadCollapseId", ""),
        ("apns-topic", "BadTopic", "com.example shop"), ("apns-topic", "BadTopic", ""),
        ("apns-push-type", "InvalidPushType", "Alert"), ("apns-push-type", "InvalidPushType", "news"),
        ("apns-topic", "DeviceTokenNotForTopic", "com.example.other"),
    ])
    func `a wrong header field has its reason`(_ name: String, _ reason: String, _ value: String) throws {
        var desk = try Desk()
        let said = desk.said { headers in
            switch name {
            case "apns-id": headers.id = value
            case "apns-expiration": headers.expiration = value
            case "apns-priority": headers.priority = value
            case "apns-collapse-id": headers.collapseID = value
            case "apns-topic": headers.topic = value
            default: headers.pushType = value
            }
        }
        #expect(said == reason)
        #expect(desk.shown.isEmpty)
    }

    @Test func `64 bytes of a collapse id are accepted`() throws {
        var desk = try Desk()
        #expect(desk.said { $0.collapseID = String(repeating: "é", count: 32) } == "200")
    }

    @Test func `a field that comes twice, and missing ones, have their reasons`() throws {
        var desk = try Desk()
        #expect(
            desk.said {
                $0.add("apns-priority", "5"); $0.add("apns-priority", "5")
            } == "DuplicateHeaders"
        )
        #expect(desk.said { $0.topic = nil } == "MissingTopic")
        // Apple requires the push type for watches only.
        #expect(desk.said { $0.pushType = nil } == "200")
    }

    @Test(arguments: [
        ("POST", "/3/device/", "MissingDeviceToken"), ("POST", "/3/devices/abab", "BadPath"), ("POST", "/", "BadPath"),
        ("POST", "/2/device/\(Desk.token)", "BadPath"), ("GET", "/3/device/\(Desk.token)", "MethodNotAllowed"),
        ("POST", "/3/device/abc", "BadDeviceToken"), ("POST", "/3/device/zz\(Desk.token)", "BadDeviceToken"),
        ("POST", "/3/device/\(String(repeating: "cd", count: 32))", "BadDeviceToken"),
        ("POST", "/1/apps/com.example.shop/all-channels", "MethodNotAllowed"),
        ("POST", "/1/apps//channels", "BadPath"), ("POST", "/4/broadcasts/apps/a/b", "BadPath"),
    ])
    func `paths and methods have their reasons`(_ method: String, _ path: String, _ reason: String) throws {
        var desk = try Desk()
        #expect(desk.said { ($0.method, $0.path) = (method, path) } == reason)
    }

    @Test func `tokens may have capital letters and any length`() throws {
        var desk = try Desk()
        #expect(desk.said(to: Desk.token.uppercased()) == "200")
        let long = String(repeating: "0f", count: 100)
        try desk.register(long)
        #expect(desk.said(to: long) == "200")
    }

    @Test func `every reason has the status that Apple documents`() {
        let statuses = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues(\.count)
        #expect(statuses == [400: 21, 403: 9, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 500: 1, 503: 2])
    }
}
