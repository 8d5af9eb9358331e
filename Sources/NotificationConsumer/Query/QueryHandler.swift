import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import NotificationState
import ServiceHTTP

/// Queries of what a recipient has:
///
/// - `GET /v1/recipients/{recipient}/notifications?state=pending|delivered&limit=&after=&occurrences=`
/// - `GET /v1/recipients/{recipient}/notifications/{identifier}?state=…&occurrences=`
///
/// - `GET /v1/recipients/{recipient}/devices`, and `…/devices/{device}`
///
/// All accept `?application=`.
struct QueryHandler: Sendable {
    let router: QueryRouter
    /// The topic whose partitions count, for the answer that names one.
    let topic: String

    private static let collection = "/v1/recipients/{recipient}/notifications"
    private static let devices = "/v1/recipients/{recipient}/devices"
    private static let ofOne = ["application", "state", "occurrences"]
    private static let ofAll = ofOne + ["limit", "after"]

    var routes: [Route] {
        [
            route(Self.collection, allowsRecipients: true) { try await list($0) },
            route("\(Self.collection)/{identifier}", allowsRecipients: true) { try await show($0) },
            route(Self.devices) { try await listDevices($0) },
            route("\(Self.devices)/{device}") { try await showDevice($0) },
        ]
    }

    private func route(
        _ path: String,
        allowsRecipients: Bool = false,
        _ answer: @escaping @Sendable (Call) async throws -> Response
    ) -> Route {
        Route(.get, path, role: .query, scope: .hiddenApplication, allowsRecipients: allowsRecipients) { call, _ in
            try await answer(call)
        }
    }

    // MARK: - Devices

    private func listDevices(_ call: Call) async throws -> Response {
        let found = try await devices(call, "")
        return Self.json { json in
            var object = JSONObjectWriter()
            object.array("devices", of: found, &json) { $0.write(to: &$1, showsToken: Self.showsTokens(call)) }
            object.end(&json)
        }
    }

    private func showDevice(_ call: Call) async throws -> Response {
        let name = try call.parameter("device")
        guard !name.isEmpty else { throw ModelError(.invalid, field: "device", "must not be empty") }
        guard let device = try await devices(call, name).first else { throw Problem.noSuchDevice }
        return Self.json { device.write(to: &$0, showsToken: Self.showsTokens(call)) }
    }

    /// A push token lets its owner reach the device: it is for those who register devices or send to them.
    private static func showsTokens(_ call: Call) -> Bool { call.caller.may(.signal) }

    private func devices(_ call: Call, _ name: String) async throws -> [ListedDevice] {
        _ = try call.target.parameters(allowed: ["application"])
        var query = NotificationQuery(
            key: try NotificationKey(
                application: call.application,
                recipient: call.parameter("recipient"),
                identifier: name
            )
        )
        query.isOfDevices = true
        guard !call.isOfOtherApplication else { return [] }
        guard case .devices(let found) = try await answer(query) else { throw Problem.unanswered }
        return found
    }

    // MARK: - Notifications

    /// A page of all that the recipient has.
    private func list(_ call: Call) async throws -> Response {
        let parameters = try call.target.parameters(allowed: Self.ofAll)
        var query = try query(call, parameters, identifier: "")
        if let limit = try Self.number("limit", parameters, in: 1...Int64(NotificationQuery.Bound.notifications)) {
            query.limit = Int(limit)
        }
        query.after = try Self.number("after", parameters, in: 0...Int64.max)
        let page = call.isOfOtherApplication ? NotificationQuery.Page() : try await self.page(for: query)
        return Self.json { json in
            var object = JSONObjectWriter()
            object.array("notifications", of: page.notifications, &json) { $0.write(to: &$1) }
            object.member("next", page.next.map { "\($0)" }, &json)
            object.end(&json)
        }
    }

    private func page(for query: NotificationQuery) async throws -> NotificationQuery.Page {
        guard case .page(let page) = try await answer(query) else { throw Problem.unanswered }
        return page
    }

    /// What is under one identifier.
    private func show(_ call: Call) async throws -> Response {
        let identifier = try call.parameter("identifier")
        guard !identifier.isEmpty else { throw ModelError(.invalid, field: "identifier", "must not be empty") }
        let query = try query(call, call.target.parameters(allowed: Self.ofOne), identifier: identifier)
        guard !call.isOfOtherApplication else { throw Problem.nothingUnderIdentifier }
        guard case .notification(let found) = try await answer(query) else { throw Problem.unanswered }
        guard let found else { throw Problem.nothingUnderIdentifier }
        return Self.json { found.write(to: &$0) }
    }

    private func query(
        _ call: Call,
        _ parameters: RequestTarget.Parameters,
        identifier: String
    ) throws -> NotificationQuery {
        var query = NotificationQuery(
            key: try NotificationKey(
                application: call.application,
                recipient: call.parameter("recipient"),
                identifier: identifier
            )
        )
        if let text = parameters["state"] {
            guard let state = ListedNotification.State(rawValue: text) else {
                throw ModelError(.invalid, field: "state", "must be pending or delivered; without it both are listed")
            }
            query.states = [state]
        }
        let bound = Int64(ListedNotification.maximumOccurrences)
        query.occurrences = Int(try Self.number("occurrences", parameters, in: 0...bound) ?? 0)
        return query
    }

    private static func number(
        _ name: String,
        _ parameters: RequestTarget.Parameters,
        in range: ClosedRange<Int64>
    ) throws(ModelError) -> Int64? {
        guard let text = parameters[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
            throw ModelError(.invalid, field: name, "must be an integer from \(range.lowerBound)\(upper)")
        }
        return number
    }

    private func answer(_ query: NotificationQuery) async throws(Problem) -> NotificationQuery.Answer {
        let answer = await router.answer(query)
        switch answer {
        case .page, .notification, .devices: return answer
        case .notOwned(let partition): throw .notOwned(partition, of: topic)
        case .unavailable: throw .unanswered
        case .overloaded: throw .overloaded
        }
    }

    private static func json(_ write: (inout [UInt8]) -> Void) -> Response {
        var json: [UInt8] = []
        write(&json)
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}

extension Problem {
    /// No lane answered: the service starts or stops, or partitions are being assigned.
    static let unanswered = Problem(
        .serviceUnavailable,
        .unavailable,
        "The recipient's partition is being assigned, or its lane did not answer in time. Repeat the call.",
        headers: [.retryAfter: "1"]
    )

    static let nothingUnderIdentifier = Problem(
        .notFound,
        .notFound,
        "The recipient has no such notification in the sets that were asked for.",
        field: "identifier"
    )

    static let noSuchDevice = Problem(
        .notFound,
        .notFound,
        "The recipient has no such device in the application.",
        field: "device"
    )

    static func notOwned(_ partition: Int32, of topic: String) -> Problem {
        Problem(
            .misdirectedRequest,
            .misrouted,
            "The recipient is in partition \(partition) of \(topic), which this instance does not own at present. Ask the "
                + "instance that owns it.",
            field: "recipient",
            partition: partition
        )
    }
}
