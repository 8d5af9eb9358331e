import Foundation
import NotificationChannels
import NotificationDelivery
import NotificationModel

/// Notifications of about 400 bytes, each for one device; one in five is time-sensitive. Ids are counters.
enum PushWorkload {
    static func isUrgent(_ number: Int) -> Bool { number.isMultiple(of: 5) }

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

    /// As a lane gives it to a channel.
    ///
    /// - Parameter registration: of its device.
    static func send(
        _ number: Int,
        to registration: DeviceRegistration,
        by channel: ChannelName
    ) throws -> Issued<ChannelSend> {
        let digits = Pattern.digits(number, 8)
        var send = ChannelSend(
            id: UUIDValue(high: 0, low: UInt64(number)),
            key: try NotificationKey(application: "shop", recipient: "user-\(digits)", identifier: "order-\(digits)"),
            kind: .deliver(content: content(number)[...]),
            channel: channel,
            requestID: try RequestID(text: "00000000-0000-5000-8000-\(Pattern.digits(number, 12))"),
            devices: devices
        )
        send.registration = registration
        return Issued(send, of: 0, in: 1)
    }

    private static let devices = Array(
        #"[{"device":"phone","outcome":"accepted","presentation":["banner","list","sound","badge"],"badge":3}]"#.utf8
    )[...]

    /// What the device of a send shows.
    static func device() throws -> PresentedDevice { try PresentedDevice(list: devices) }
}
