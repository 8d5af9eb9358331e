import Foundation
import NotificationChannels
import NotificationDelivery
import NotificationModel

/// Notifications of about 400 bytes, each for one device; one in five is time-sensitive. Ids are counters.
enum PushWorkload {
    static func isUrgent(_ number: Int) -> Bool { number.isMultiple(of: 5) }

    /// 64 hexadecimal digits.
    static func token(_ number: Int) -> String { Pattern.digits(number + 1, 64) }

    /// A content as the requests of the other benchmarks have it.
    static func content(_ number: Int) -> [UInt8] {
        let digits = Pattern.digits(number, 8)
        return Array(
            """
            {"title":"Your order is on its way","subtitle":"Order \(digits)",\
            "body":"The parcel \\"\(digits)\\" has left our warehouse and will be with you soon.","badge":3,\
            "sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders",\
            "interruptionLevel":"\(isUrgent(number) ? "timeSensitive" : "active")","relevanceScore":0.5,\
            "userInfo":{"orderId":"\(digits)","items":[1,2,3],"customer":{"tier":"gold"}}}
            """.utf8
        )
    }

    /// As a lane gives it to the channel.
    ///
    /// - Parameter token: of its device.
    static func send(_ number: Int, token: String) throws -> Issued<ChannelSend> {
        let digits = Pattern.digits(number, 8)
        var send = ChannelSend(
            id: UUIDValue(high: 0, low: UInt64(number)),
            key: try NotificationKey(application: "shop", recipient: "user-\(digits)", identifier: "order-\(digits)"),
            kind: .deliver(content: content(number)[...]),
            channel: .apns,
            requestID: try RequestID(text: "00000000-0000-5000-8000-\(Pattern.digits(number, 12))"),
            devices: devices
        )
        send.registration = try DeviceRegistration(platform: "apns", token: token)
        return Issued(send, of: 0, in: 1)
    }

    private static let devices = Array(
        #"[{"device":"phone","outcome":"accepted","presentation":["banner","list","sound","badge"],"badge":3}]"#.utf8
    )[...]

    /// The push that the channel makes of a notification, for other clients.
    static func push(_ number: Int) throws -> APNsPush {
        let send = try send(number, token: token(number)).work
        let device = try PresentedDevice(list: devices)
        return try APNsPush(
            DeviceDelivery(send, content: content(number)[...], to: device),
            bundle: PushServer.bundle
        )
    }
}
