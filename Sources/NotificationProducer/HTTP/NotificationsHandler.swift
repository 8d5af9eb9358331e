import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import NotificationPublisher
import ServiceHTTP

/// Requests and removals of a recipient's notifications:
///
/// - `PUT /v1/recipients/{recipient}/notifications/{identifier}`
/// - `POST /v1/recipients/{recipient}/notifications`: creates the identifier, and returns it in `Location`
/// - `DELETE /v1/recipients/{recipient}/notifications/{identifier}?state=pending|delivered|all`
/// - `DELETE /v1/recipients/{recipient}/notifications?state=…[&identifier=a&identifier=b]`: all of the recipient's
///   without identifiers
///
/// All accept `?application=` and `Idempotency-Key`.
struct NotificationsHandler: Sendable {
    let broker: BrokerGateway
    let bodyLimit: Int
    /// Maximum number of identifiers in one call.
    let removalLimit: Int
    let now: @Sendable () -> Timestamp
    /// The time zones of calendar triggers.
    let zones: TimeZoneDatabase
    let makeRequestID: @Sendable () -> NotificationModel.RequestID
    /// Told what of a payload of APNs no content says.
    var noteUnsaid: @Sendable ([String]) -> Void = { _ in }

    /// Approximate memory of a waiting record besides its bytes.
    private static let recordOverhead = 1_024

    private static let ofRequest = ["application"]
    private static let ofRemoval = ["application", "state"]
    private static let collection = "/v1/recipients/{recipient}/notifications"
    private static let single = "\(collection)/{identifier}"

    var routes: [Route] {
        [
            Route(.post, Self.collection, role: .publish) { call, body in try await post(call, &body) },
            Route(.delete, Self.collection, role: .publish) { call, body in try await deleteSeveral(call, &body) },
            Route(.put, Self.single, role: .publish) { call, body in try await put(call, &body) },
            Route(.delete, Self.single, role: .publish) { call, _ in try await delete(call) },
        ]
    }

    /// A write call with the parameters from its head.
    private struct Write {
        let call: Call
        let idempotencyKey: IdempotencyKey?
        let parameters: RequestTarget.Parameters

        init(_ call: Call, allowed: [String], repeatable: String? = nil) throws(ModelError) {
            self.call = call
            idempotencyKey = try IdempotencyKey.read(call)
            parameters = try call.target.parameters(allowed: allowed, repeatable: repeatable)
        }
    }

    // MARK: Requests

    /// Requests a notification; it replaces one with the same identifier.
    private func put(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let write = try Write(call, allowed: Self.ofRequest)
        let accepted = try await request(write, &body, try key(write, try identifier(of: call)))
        return Response.accepted { accepted.write(to: &$0, &$1) }
    }

    /// Requests a notification with a new identifier.
    private func post(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let write = try Write(call, allowed: Self.ofRequest)
        let recipient = try key(write, "")
        let identifier =
            write.idempotencyKey?.identifier(recipient) ?? NotificationModel.RequestID.random().description
        let accepted = try await request(write, &body, try key(write, identifier))
        var location = "/v1/recipients/\(PercentEncoding.encode(recipient.recipient))/notifications/\(identifier)"
        if let application = write.parameters["application"] {
            location += "?application=\(PercentEncoding.encode(application))"
        }
        var response = Response.accepted { object, json in
            object.member("identifier", identifier, &json)
            accepted.write(to: &object, &json)
        }
        response.headers[.location] = location
        return response
    }

    private struct Accepted {
        let receipt: NotificationPublisher.Receipt
        /// What of a payload of APNs no content says.
        let notConverted: [String]

        func write(to object: inout JSONObjectWriter, _ json: inout [UInt8]) {
            receipt.write(to: &object, &json)
            if !notConverted.isEmpty { object.member("notConverted", notConverted, &json) }
        }
    }

    private func request(
        _ write: Write,
        _ body: inout CallBody,
        _ key: NotificationKey
    ) async throws -> Accepted {
        guard write.call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        var bytes = try await body.read(upTo: bodyLimit)
        let received = try RequestRecord.receive(body: &bytes, key: key)
        let scanned = received.record
        try Schedule.check(scanned.trigger, at: now(), zones: zones)
        try scanned.limits?.check(zones: zones)
        if let expiration = scanned.expiration, expiration <= now() {
            throw ModelError(.invalid, field: "expiration", "is in the past: \(expiration.rfc3339)")
        }
        try broker.checkContent(scanned.content.count)
        let id = requestID(write, key)
        let record = RequestRecord.value(body: bytes, key: key, requestID: id)
        guard record.count <= ModelLimits.requestBytes else {
            // A body near its limit, plus the record's additional members.
            let bound = bytes.count - (record.count - ModelLimits.requestBytes)
            throw ModelError(.tooLarge, "with this key the body may have at most \(bound) bytes, it has \(bytes.count)")
        }
        let receipt = try await broker.publish(
            .init(value: record, key: key, requestID: id, isRemoval: false),
            trace: write.call.request.traceContext
        )
        if !received.notConverted.isEmpty { noteUnsaid(received.notConverted) }
        return Accepted(receipt: receipt, notConverted: received.notConverted)
    }

    // MARK: Removals

    /// Cancels pending notifications and withdraws delivered ones, as `state` says.
    private func delete(_ call: Call) async throws -> Response {
        let write = try Write(call, allowed: Self.ofRemoval)
        return try await remove(write, try key(write, try identifier(of: call)), try scope(write))
    }

    /// The same for several notifications, one record each, concurrently; or for all of the recipient's, in one record.
    private func deleteSeveral(_ call: Call, _ body: inout CallBody) async throws -> Response {
        let write = try Write(call, allowed: Self.ofRemoval, repeatable: "identifier")
        let scope = try scope(write)
        guard !write.parameters.repeated.isEmpty else { return try await remove(write, try key(write, ""), scope) }
        // Compared as keys: equivalent Unicode texts are different notifications.
        var known: Set<NotificationKey> = []
        var removals: [(identifier: String, record: BrokerGateway.Record)] = []
        for identifier in write.parameters.repeated {
            let key = try key(write, try Self.named(identifier))
            guard known.insert(key).inserted else { continue }
            guard removals.count < removalLimit else {
                throw ModelError(
                    .tooLarge,
                    field: "identifier",
                    "one call may remove at most \(removalLimit) notifications; use several calls, or remove all of the recipient's"
                )
            }
            let record = removal(write, key, scope)
            // A small call can create many records.
            try body.take(record.value.count + key.encoded.count + Self.recordOverhead)
            removals.append((identifier, record))
        }
        let receipts = try await broker.publish(removals.map(\.record), trace: call.request.traceContext)
        return Response.accepted { object, json in
            object.array("removals", of: Array(zip(removals, receipts)), &json) { removed, json in
                var object = JSONObjectWriter()
                object.member("identifier", removed.0.identifier, &json)
                removed.1.write(to: &object, &json)
                object.end(&json)
            }
        }
    }

    private func remove(_ write: Write, _ key: NotificationKey, _ scope: RemovalScope) async throws -> Response {
        let receipt = try await broker.publish(removal(write, key, scope), trace: write.call.request.traceContext)
        return Response.accepted { receipt.write(to: &$0, &$1) }
    }

    private func removal(_ write: Write, _ key: NotificationKey, _ scope: RemovalScope) -> BrokerGateway.Record {
        let id = requestID(write, key)
        let removal = NotificationRemoval(requestID: id, key: key, scope: scope)
        return .init(value: removal.recordValue, key: key, requestID: id, isRemoval: true)
    }

    private func scope(_ write: Write) throws(ModelError) -> RemovalScope {
        guard let state = write.parameters["state"] else { return .all }
        guard let scope = RemovalScope(rawValue: state) else {
            throw ModelError(.invalid, field: "state", "must be pending, delivered or all")
        }
        return scope
    }

    // MARK: Keys and ids

    private func identifier(of call: Call) throws -> String {
        try Self.named(try call.parameter("identifier"))
    }

    /// In a key an empty identifier means all of the recipient's: a missing value must never mean that.
    private static func named(_ identifier: String) throws(ModelError) -> String {
        guard !identifier.isEmpty else { throw ModelError(.invalid, field: "identifier", "must not be empty") }
        return identifier
    }

    private func key(_ write: Write, _ identifier: String) throws -> NotificationKey {
        try NotificationKey(
            application: write.call.application,
            recipient: try write.call.parameter("recipient"),
            identifier: identifier
        )
    }

    private func requestID(_ write: Write, _ key: NotificationKey) -> NotificationModel.RequestID {
        write.idempotencyKey?.requestID(write.call.request.method, key) ?? makeRequestID()
    }
}

extension NotificationPublisher.Receipt {
    fileprivate func write(to object: inout JSONObjectWriter, _ json: inout [UInt8]) {
        object.member("requestId", requestID, &json)
        object.place(topic, partition, offset, &json)
    }
}
