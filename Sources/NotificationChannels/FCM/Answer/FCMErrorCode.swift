/// The `errorCode` of a `google.firebase.fcm.v1.FcmError` in an answer.
package enum FCMErrorCode: String, CaseIterable, Hashable, Sendable {
    case internalError = "INTERNAL"
    case invalidArgument = "INVALID_ARGUMENT"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    case unavailable = "UNAVAILABLE"
    case unregistered = "UNREGISTERED"
    case unspecifiedError = "UNSPECIFIED_ERROR"
}

/// The `status` of an answer's error: a code of `google.rpc`.
package enum RPCStatus: String, CaseIterable, Hashable, Sendable {
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    case failedPrecondition = "FAILED_PRECONDITION"
    case internalError = "INTERNAL"
    case invalidArgument = "INVALID_ARGUMENT"
    case notFound = "NOT_FOUND"
    case permissionDenied = "PERMISSION_DENIED"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unauthenticated = "UNAUTHENTICATED"
    case unavailable = "UNAVAILABLE"
}
