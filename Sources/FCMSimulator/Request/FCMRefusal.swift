import NIOHPACK
import NotificationModel
import PushSimulation

/// A refused message.
struct FCMRefusal: Error, Hashable, Sendable {
    var status: Int
    /// `google.rpc.Code`.
    var rpc: String
    /// Of an `FcmError`; nil without one.
    var code: String?
    var message: String
    /// Of a `BadRequest`.
    var field: String?
    /// Of a `QuotaFailure`: whose quota it is.
    var quota: String?
    /// In seconds.
    var retryAfter: Int?

    init(
        _ status: Int,
        _ rpc: String,
        code: String? = nil,
        _ message: String,
        field: String? = nil,
        quota: String? = nil,
        retryAfter: Int? = nil
    ) {
        (self.status, self.rpc, self.code, self.message) = (status, rpc, code, message)
        (self.field, self.quota, self.retryAfter) = (field, quota, retryAfter)
    }

    /// Of a field.
    static func invalid(_ field: String, _ message: String) -> FCMRefusal {
        FCMRefusal(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message, field: field)
    }

    /// The refusal with an `errorCode` of FCM, and its status; nil for an unknown one.
    init?(errorCode: String, retryAfter: Int? = nil) {
        switch errorCode {
        case "INVALID_ARGUMENT": self.init(400, errorCode, code: errorCode, "Request contains an invalid argument.")
        case "UNREGISTERED": self.init(404, "NOT_FOUND", code: errorCode, "Requested entity was not found.")
        case "SENDER_ID_MISMATCH": self.init(403, "PERMISSION_DENIED", code: errorCode, "SenderId mismatch")
        case "QUOTA_EXCEEDED":
            self.init(429, "RESOURCE_EXHAUSTED", code: errorCode, "Message rate exceeded.", quota: "project")
        case "UNAVAILABLE":
            self.init(503, errorCode, code: errorCode, "The service is currently unavailable.")
        case "INTERNAL": self.init(500, errorCode, code: errorCode, "Internal error encountered.")
        case "THIRD_PARTY_AUTH_ERROR":
            self.init(401, "UNAUTHENTICATED", code: errorCode, "Auth error from APNS or Web Push Service")
        case "UNAUTHENTICATED":
            self.init(401, errorCode, "Request had invalid authentication credentials.")
        case "PERMISSION_DENIED":
            self.init(403, errorCode, "Permission 'cloudmessaging.messages.create' denied on the project.")
        default: return nil
        }
        self.retryAfter = retryAfter
    }

    private var json: JSONValue {
        func detail(_ type: String, _ members: [JSONValue.Member]) -> JSONValue {
            .object([.init("@type", .string("type.googleapis.com/\(type)"))] + members)
        }
        var details: [JSONValue] = []
        if let code {
            details.append(detail("google.firebase.fcm.v1.FcmError", [.init("errorCode", .string(code))]))
        }
        if let field {
            let violation = JSONValue.object([
                .init("field", .string(field)), .init("description", .string(message)),
            ])
            details.append(detail("google.rpc.BadRequest", [.init("fieldViolations", .array([violation]))]))
        }
        if let quota {
            let violation = JSONValue.object([
                .init("subject", .string(quota)), .init("description", .string(message)),
            ])
            details.append(detail("google.rpc.QuotaFailure", [.init("violations", .array([violation]))]))
        }
        var error: [JSONValue.Member] = [
            .init("code", .number(status)), .init("message", .string(message)), .init("status", .string(rpc)),
        ]
        if !details.isEmpty { error.append(.init("details", .array(details))) }
        return .object([.init("error", .object(error))])
    }

    var answer: ServerAnswer {
        var headers: HPACKHeaders = [":status": "\(status)", "content-type": "application/json; charset=UTF-8"]
        if let retryAfter { headers.add(name: "retry-after", value: "\(retryAfter)") }
        return ServerAnswer(headers, body: json.json)
    }
}
