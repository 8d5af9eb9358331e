import HTTPTypes
import Hummingbird
import NotificationModel
import PushSimulation

/// An answer that refuses a message, with the status and the number (`errno`) of Mozilla's service.
struct PushRefusal: Error, Hashable {
    let status: Int
    let number: Int
    let message: String

    static let unknown = PushRefusal(status: 404, number: 102, message: "the endpoint never was")
    static let gone = PushRefusal(status: 410, number: 106, message: "the subscription has ended")
    static let tooLarge = PushRefusal(status: 413, number: 104, message: "the body has more than 4096 bytes")
    static let missingTimeToLive = PushRefusal(status: 400, number: 111, message: "ttl is missing or no number")
    static let badEncoding = PushRefusal(status: 400, number: 110, message: "content-encoding must be aes128gcm")
    static let badTopic = PushRefusal(
        status: 400,
        number: 113,
        message: "a topic has 1 to 32 characters of Base64url"
    )
    static let full = PushRefusal(status: 503, number: 201, message: "too many messages wait for the browser")

    static func unauthorized(_ why: String) -> PushRefusal { PushRefusal(status: 401, number: 109, message: why) }

    static func badField(_ name: String) -> PushRefusal {
        PushRefusal(status: 400, number: 110, message: "\(name) has no value that is known")
    }

    var response: Response {
        .json(
            .object([
                .init("code", .number(status)), .init("errno", .number(number)), .init("message", .string(message)),
            ]),
            status: .init(code: status)
        )
    }
}
