import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Push types and headers of APNs")
struct APNsPushTypeTests {
    /// As Apple's page "Sending notification requests to APNs" lists them.
    private static let types: [(name: String, topic: String, limit: Int)] = [
        ("alert", "com.example.shop", 4096),
        ("background", "com.example.shop", 4096),
        ("complication", "com.example.shop.complication", 4096),
        ("controls", "com.example.shop.push-type.controls", 4096),
        ("fileprovider", "com.example.shop.pushkit.fileprovider", 4096),
        ("liveactivity", "com.example.shop.push-type.liveactivity", 4096),
        ("location", "com.example.shop.location-query", 4096),
        ("mdm", "com.example.shop", 4096),
        ("pushtotalk", "com.example.shop.voip-ptt", 4096),
        ("voip", "com.example.shop.voip", 5120),
        ("widgets", "com.example.shop.push-type.widgets", 4096),
    ]

    @Test func `there are eleven types, each with its topic and size`() {
        #expect(APNsPushType.allCases.count == 11)
        for (name, topic, limit) in Self.types {
            let type = APNsPushType(rawValue: name)
            #expect(type?.topic(of: "com.example.shop") == topic && type?.maximumPayloadBytes == limit, "\(name)")
        }
    }

    @Test func `every type says its priority, since 10 without the header would be an error in the background`() {
        for type in APNsPushType.allCases {
            let fields = APNsHeaders(type, bundle: "a.b").fields
            #expect(fields.contains { $0.name == "apns-priority" && !$0.value.isEmpty }, "\(type)")
        }
        #expect(APNsHeaders(.background, bundle: "a.b").priority == .saving)
    }

    @Test func `kinds of tokens are those of one topic`() {
        for one in APNsPushType.allCases {
            for other in APNsPushType.allCases where one != .mdm && other != .mdm {
                #expect((one.tokenKind == other.tokenKind) == (one.topicSuffix == other.topicSuffix), "\(one) \(other)")
            }
        }
    }

    @Test func `headers are written as APNs reads them`() throws {
        let headers = APNsHeaders(
            .alert,
            bundle: "com.example.shop",
            id: UUIDValue(high: 0xABCD_EF01_2345_4789, low: 0x8BCD_EF01_2345_6789),
            priority: .lowest,
            expiration: 0,
            collapseID: "a"
        )
        #expect(
            headers.fields.map { "\($0.name): \($0.value)" } == [
                "apns-topic: com.example.shop", "apns-push-type: alert", "apns-priority: 1",
                "apns-id: abcdef01-2345-4789-8bcd-ef0123456789", "apns-expiration: 0", "apns-collapse-id: a",
            ]
        )
        #expect(APNsHeaders(.alert, bundle: "a").fields.count == 3)
    }

    @Test(arguments: [(1_795_251_600_999, 1_795_251_600), (999, 1), (0, 1), (-5000, 1)] as [(Int64, Int64)])
    func `an expiration is rounded down, and is never the 0 that means once`(_ milliseconds: Int64, _ seconds: Int64) {
        #expect(APNsHeaders.expiration(Timestamp(rawValue: milliseconds)) == seconds)
    }

    @Test func `a collapse id follows from the key alone and is short for every key`() throws {
        let key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order-1001")
        // base64.urlsafe_b64encode(hashlib.sha256(b"shop/ana/order-1001").digest()[:24])
        #expect(CollapseID(key).text == "LDgtX2B2cnRIY67RQ6KfodwVJd-y2Boq")
        var ids: Set<String> = []
        let names = [
            String(repeating: "😀", count: 64), String(repeating: "é", count: 128), String(repeating: "x", count: 256),
            "a", "a/b", "a%2Fb", " ",
        ]
        for application in names {
            for recipient in names {
                for identifier in names {
                    let id = CollapseID(
                        try NotificationKey(application: application, recipient: recipient, identifier: identifier)
                    ).text
                    #expect(id.utf8.count == 32)
                    #expect(
                        id.utf8.allSatisfy {
                            "-_".utf8.contains($0) || Character(.init($0)).isLetter || Character(.init($0)).isNumber
                        }
                    )
                    #expect(ids.insert(id).inserted)
                }
            }
        }
    }
}
