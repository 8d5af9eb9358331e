import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import PushSimulation
import ServiceHTTP
import Synchronization

/// What senders call, and the calls of the control interface.
struct PushServiceRoutes: Sendable {
    /// Enough of a body to see that it is too large.
    private static let bodyBytes = 64 << 10

    let core: PushServiceCore

    /// RFC 8030: a message to a subscription, and its withdrawal.
    var ofSenders: [Route] {
        [
            Route(.post, "/push/{subscription}", role: nil, isPublic: true) { call, body in
                try await push(call, &body)
            },
            Route(.delete, "/message/{message}", role: nil, isPublic: true) { call, _ in
                let message = try call.parameter("message")
                return try .done(core.state.withLock { $0.delete(message) }, orMissing: "such message that waits")
            },
        ]
    }

    private func push(_ call: Call, _ body: inout CallBody) async throws -> Response {
        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { call.request.headers[$0] } }
        let name = try call.parameter("subscription")
        let push = SentPush(
            timeToLive: field("ttl"),
            topic: field("topic"),
            urgency: field("urgency"),
            contentEncoding: field("content-encoding"),
            authorization: field("authorization"),
            body: try await body.read(upTo: Self.bodyBytes)
        )
        let (audience, now) = (core.audience, core.now())
        do throws(PushRefusal) {
            let sent = try core.state.withLock { state throws(PushRefusal) in
                try state.push(push, to: name, audience: audience, at: now)
            }
            core.send(sent.outgoing)
            var response = Response(status: .created)
            response.headers[.location] = "\(audience)/message/\(sent.id)"
            if let name = HTTPField.Name("ttl") { response.headers[name] = "\(sent.timeToLive)" }
            return response
        } catch {
            return error.response
        }
    }

    /// What tests and people ask and change.
    var ofControl: [Route] {
        [
            Route(.get, "/v1/browsers", role: nil) { _, _ in
                let browsers = core.state.withLock { $0.browsers }
                let list = browsers.sorted { $0.key < $1.key }.map { uaid, browser in browser.json(uaid) }
                return .json(.object([.init("browsers", .array(list))]))
            },
            Route(.put, "/v1/browsers", role: nil) { call, body in
                let fields = try await call.fields(&body, ["online"])
                core.setOnline(try fields.required(try fields.bool("online"), "online"))
                return Response(status: .noContent)
            },
            Route(.delete, "/v1/subscriptions/{subscription}", role: nil) { call, _ in
                let name = try call.parameter("subscription")
                return try .done(core.state.withLock { $0.end(name) }, orMissing: "subscription \(name)")
            },
            Route(.get, "/v1/statistics", role: nil) { _, _ in .json(core.state.withLock { $0.statistics }.json) },
        ]
    }
}

extension PushServiceState.Browser {
    fileprivate func json(_ uaid: String) -> JSONValue {
        .object([
            .init("uaid", .string(uaid)), .init("connected", .bool(connection != nil)),
            .init("subscriptions", .array(subscriptions.values.sorted().map(JSONValue.string))),
            .init("waiting", .array(waiting.map { .string($0.id) })),
            .init(
                "acknowledged",
                .array(
                    acknowledged.map {
                        .object([.init("message", .string($0.message)), .init("code", .number($0.code))])
                    }
                )
            ),
        ])
    }
}

extension WebPushStatistics {
    fileprivate var json: JSONValue {
        .object([
            .init("requests", .number(requests)), .init("accepted", .number(accepted)),
            .init("refused", .object(refused.sorted { $0.key < $1.key }.map { .init("\($0.key)", .number($0.value)) })),
            .init("unreadable", .number(unreadable)), .init("deleted", .number(deleted)),
        ])
    }
}
