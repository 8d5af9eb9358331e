import Foundation
import HTTPTesting
import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

/// Whether two JSON texts say the same, whatever the order of their members.
func isSame(_ json: [UInt8], _ expected: String) throws -> Bool {
    func object(_ bytes: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }
    return try object(json) == object(Array(expected.utf8))
}

enum APNsSample {
    static let bundle = "com.example.shop"
    static let id = UUIDValue(high: 0x0D8F_4E6C_0000_4000, low: 0x8000_0000_0000_0001)
    static let occurrence = Timestamp(rawValue: 1_795_251_600_000)

    static func origin(identifier: String = "order-1001") throws -> DeviceDelivery.Origin {
        DeviceDelivery.Origin(
            key: try NotificationKey(application: "shop", recipient: "ana", identifier: identifier),
            requestID: try RequestID(text: "r-1"),
            occurrence: occurrence,
            sequence: OperationSequence(life: 0, offset: 41, time: occurrence),
            device: "iphone-1"
        )
    }

    /// What a device is given of a content that it may show whole.
    static func delivery(
        _ content: String,
        presentation: PresentationOptions = [.banner, .list, .sound, .badge],
        badge: Int64? = nil,
        level: InterruptionLevel? = nil,
        expiration: Timestamp? = nil
    ) throws -> DeviceDelivery {
        let origin = try origin()
        return DeviceDelivery(
            id: id,
            collapseID: CollapseID(origin.key).text,
            content: Array(content.utf8)[...],
            presentation: presentation,
            badge: badge,
            interruptionLevel: level,
            expiration: expiration,
            origin: origin
        )
    }

    /// The member `carillon` of its payloads.
    static let own = #"""
        "carillon":{"application":"shop","identifier":"order-1001","requestId":"r-1",
        "occurrence":"2026-11-21T09:00:00.000Z","device":"iphone-1","sequence":"0-000000000042-1795251600000"}
        """#

    /// A push of that content.
    static func push(_ delivery: DeviceDelivery, oversize: OversizePolicy = .standard) throws -> APNsPush {
        try APNsPush(delivery, bundle: bundle, oversize: oversize)
    }

    /// A new key as Apple's files have it.
    static func key(_ files: TestFiles, _ name: String = "AuthKey.p8") throws -> String {
        let path = files.path(name)
        _ = try files.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path]
        )
        return path
    }
}
