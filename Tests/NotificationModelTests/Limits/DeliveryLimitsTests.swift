@testable import NotificationModel
import Testing

@Suite("Limits of a delivery")
struct DeliveryLimitsTests {
    private let full = DeliveryLimits(
        quietHours: QuietHours(start: 1320, end: 425, policy: .suppress, timeZone: "Europe/Berlin"),
        cap: DeliveryCap(count: 3, period: 86_400_000),
        digest: DigestPolicy(by: .thread, window: 1_500, title: "{{count}}", body: "{{titles}}")
    )

    private func read(_ json: [UInt8]) throws(ModelError) -> DeliveryLimits {
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try DeliveryLimits(&scanner) }
        }
    }

    @Test("limits without any limit are no limits")
    func none() {
        #expect(DeliveryLimits() == nil)
        #expect(DeliveryLimits(cap: DeliveryCap(count: 1, period: 1)) != nil)
    }

    @Test("they are equal by value")
    func equality() throws {
        let full = try #require(full)
        let again = DeliveryLimits(quietHours: full.quietHours, cap: full.cap, digest: full.digest)
        #expect(again == full)
        #expect(again?.hashValue == full.hashValue)
        #expect(DeliveryLimits(quietHours: full.quietHours, cap: full.cap) != full)
    }

    @Test("the changelog keeps them")
    func state() throws {
        let full = try #require(full)
        for limits in [
            full, DeliveryLimits(cap: full.cap), DeliveryLimits(digest: DigestPolicy(by: .category, window: 1_000)),
            DeliveryLimits(quietHours: QuietHours(start: 0, end: 1439)),
        ] {
            let limits = try #require(limits)
            var json: [UInt8] = []
            limits.writeJSON(to: &json)
            #expect(try read(json) == limits)
        }
    }

    @Test("the changelog may have newer fields, zones that are gone, and templates of another version")
    func lenient() throws {
        let limits = try read(
            bytes(
                """
                {"quietHours":{"start":"22:00","end":"07:00","timeZone":"Europe/Atlantis","days":[1]},"future":1,
                 "cap":{"count":1,"period":1,"future":{}},"digest":{"by":"thread","window":1,"title":"{{future}}"}}
                """
            )
        )
        #expect(limits.quietHours?.timeZone == "Europe/Atlantis")
        #expect(limits.digest?.title == "{{future}}")
        #expect(throws: ModelError.self) { try read(bytes(#"{"cap":{"count":1}}"#)) }
    }

    @Test("a database without the zone refuses it")
    func zones() throws {
        let file = try TimeZoneFiles(directory: TimeZoneDatabase.systemDirectory).zone("UTC")
        let database = try TimeZoneDatabase(version: "test", files: ["UTC": file])
        let error = failure { () throws(ModelError) in try full?.check(zones: database) }
        #expect(error?.reason == .invalid)
        #expect(error?.field == "quietHours.timeZone")
        #expect(throws: Never.self) { try full?.check(zones: TimeZoneDatabase.system.get()) }
        #expect(throws: Never.self) { try DeliveryLimits(cap: full?.cap)?.check(zones: database) }
    }

    @Test("a digest may wait for a trigger that fires once")
    func trigger() throws {
        let key = try NotificationKey(application: "shop", recipient: "u", identifier: "i")
        var request = NotificationRequest(
            key: key,
            content: NotificationContent(title: "t", threadIdentifier: "orders"),
            trigger: .timeInterval(TimeIntervalTrigger(timeInterval: 60)),
            limits: DeliveryLimits(digest: DigestPolicy(by: .thread, window: 60_000))
        )
        try request.validate()
        request.trigger = .timeInterval(TimeIntervalTrigger(timeInterval: 60, repeats: true))
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "digest")
    }
}
