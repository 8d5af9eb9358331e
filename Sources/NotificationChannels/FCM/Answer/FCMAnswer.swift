package import NotificationModel
import OutboundHTTP

/// An answer of FCM HTTP v1.
package struct FCMAnswer: Hashable, Sendable {
    /// Whose quota is exceeded, as `google.rpc.QuotaFailure` says.
    package enum Quota: Hashable, Sendable {
        /// Messages to one device.
        case device
        /// Messages of the project; also what names nobody.
        case project
    }

    /// Of the answer's body more is not read.
    package static let maximumBodyBytes = 16 * 1024
    /// Nested more deeply than the details of an error it is none.
    private static let depth = 12

    /// Of HTTP.
    package let status: Int
    /// Of an `FcmError` in the details; nil when there is none, or an unknown one.
    package let code: FCMErrorCode?
    /// Of the error; nil when there is none, or an unknown one.
    package let rpc: RPCStatus?
    /// Whether the body is an error of Google's interfaces at all.
    package let isError: Bool
    /// The fields that a `google.rpc.BadRequest` names.
    package let fields: [String]
    package let quota: Quota
    /// The `reason` of a `google.rpc.ErrorInfo`, such as `SERVICE_DISABLED`, without control characters.
    package let reason: String?
    /// The pause that `retry-after` or a `google.rpc.RetryInfo` asks for, in milliseconds.
    package let retryAfter: Int64?

    /// - Parameters:
    ///   - status: of HTTP.
    ///   - body: JSON with `error`; anything else has no code.
    ///   - now: what a date of `retry-after` is compared with.
    ///   - header: the value of a header by its name in lower case.
    package init(status: Int, body: [UInt8], at now: Timestamp, header: (String) -> String? = { _ in nil }) {
        self.status = status
        let parsed = body.count <= Self.maximumBodyBytes ? try? JSONValue.parse(body, maximumDepth: Self.depth) : nil
        // A stream of answers is an array with one.
        let error = (parsed?.arrayValue?.first ?? parsed)?["error"]
        isError = error?.objectValue != nil
        rpc = error?["status"]?.stringValue.flatMap(RPCStatus.init(rawValue:))
        let details = error?["details"]?.arrayValue ?? []
        func detail(_ type: String) -> JSONValue? {
            details.first { $0["@type"]?.stringValue == "type.googleapis.com/\(type)" }
        }
        code = detail("google.firebase.fcm.v1.FcmError")?["errorCode"]?.stringValue
            .flatMap(FCMErrorCode.init(rawValue:))
        fields = (detail("google.rpc.BadRequest")?["fieldViolations"]?.arrayValue ?? []).prefix(16)
            .compactMap { $0["field"]?.stringValue }
        let violations = detail("google.rpc.QuotaFailure")?["violations"]?.arrayValue ?? []
        let isOfDevice = violations.contains { violation in
            ["subject", "description"].contains { violation[$0]?.stringValue?.lowercased().contains("device") == true }
        }
        quota = isOfDevice ? .device : .project
        reason = detail("google.rpc.ErrorInfo")?["reason"]?.stringValue.flatMap { text in
            (1...128).contains(text.utf8.count) ? PrintableText.escaped(text) : nil
        }
        retryAfter =
            header("retry-after").flatMap { RetryAfter.milliseconds($0, at: now) }
            ?? detail("google.rpc.RetryInfo")?["retryDelay"]?.stringValue.flatMap(Self.milliseconds)
    }

    /// A duration of Protocol Buffers in JSON: `1.5s`.
    private static func milliseconds(_ text: String) -> Int64? {
        guard text.utf8.last == UInt8(ascii: "s"), let seconds = Double(text.dropLast()), seconds >= 0 else {
            return nil
        }
        return Int64(min(seconds * 1000, Double(RetryAfter.longest)))
    }

    /// Whether the fields that are wrong are those of the target.
    var blamesTarget: Bool { !fields.isEmpty && fields.allSatisfy(["message.token", "message.fid"].contains) }

    /// - Parameter target: that it answers for.
    package func action(for target: FCMTarget) -> FCMAction { FCMAction(self, for: target) }
}
