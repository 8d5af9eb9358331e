import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NotificationModel
import ServiceHTTP
import ServiceSupport

/// The HTTP API: finds the resource, answers what cannot be done, and leaves the rest to the handlers.
///
/// Routing is done here on the raw path and not by the framework's router, which neither decodes path parameters nor knows
/// which methods a path takes. What the head of a call forbids is answered without its body.
struct ProducerAPI: HTTPResponder {
    typealias Context = CallContext

    let events: EventsHandler
    let notifications: NotificationsHandler
    /// The address that the API listens on.
    let host: String
    /// Nil lets everybody in who calls this machine by a name of its own.
    let tokens: BearerTokens?
    let memory: CallMemory
    let metrics: ProducerMetrics
    let logger: Logger

    func respond(to request: Request, context: CallContext) async throws -> Response {
        let began = ContinuousClock.now
        let target = RequestTarget(request.head.path ?? "")
        let route = Route(target.segments)
        var body = CallBody(of: request, on: context.channel, memory: memory)
        defer { body.release() }
        let response: Response
        do {
            do {
                response = try await answer(request, target, route, &body)
                metrics.http.countAnswer(status: response.status.code)
            } catch let error as CallBody.Lost {
                throw error
            } catch {
                let problem = problem(of: error)
                // Else the connection has been answered for, and counted.
                if context.channel.isActive { metrics.http.countRefusal(problem.reason, status: problem.status.code) }
                try await body.discard()
                response = problem.response
            }
        } catch let error as CallBody.Lost {
            throw error.cause
        }
        metrics.record(began.duration(to: .now), of: route, request.method)
        // The answer to HEAD has the headers of one with a body, and none.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request,
        _ target: RequestTarget,
        _ route: Route,
        _ body: inout CallBody
    ) async throws -> Response {
        try checkBytes(of: request.headers)
        if tokens == nil, !isOwnName(request.head.authority) { throw Problem.foreignHost }
        let roles = try tokens?.roles(of: request.headers)
        func call() throws -> Call {
            // Everything here publishes.
            if let roles, !roles.allow(.publish) { throw Problem.forbidden(.publish) }
            return Call(request: request, target: target, idempotencyKey: try IdempotencyKey.read(request.headers))
        }
        switch (route, request.method) {
        case (.events, .post): return try await events.publish(call(), &body)
        case (.notification, .put): return try await notifications.put(call(), &body)
        case (.notification, .delete): return try await notifications.delete(call())
        case (.notifications, .post): return try await notifications.post(call(), &body)
        case (.notifications, .delete): return try await notifications.deleteSeveral(call(), &body)
        case (.other, _): throw Problem.notFound
        default: throw Problem.methodNotAllowed(route.methods)
        }
    }

    /// Without tokens the loopback address protects the API, and a browser would still call it for a page whose name resolves to
    /// that address (DNS rebinding): the name is what tells.
    private func isOwnName(_ authority: String?) -> Bool {
        // HTTP/1.0 may leave it out; no browser does.
        guard let authority else { return true }
        guard let name = HostField(authority)?.name else { return false }
        return ListenerSecurity.isLoopback(name) || name.lowercased() == host.lowercased()
    }

    /// Refuses header bytes that are not UTF-8. The decoder has made U+FFFD of them, so that different texts look the same: that
    /// character is the sign. Who means it writes it percent-encoded, where the header allows that.
    private func checkBytes(of headers: HTTPFields) throws(ModelError) {
        for field in headers where field.value.utf8.contains(0xEF) && field.value.unicodeScalars.contains("\u{FFFD}") {
            let name = field.name.canonicalName
            throw ModelError(
                .notUTF8,
                field: name.hasPrefix("ce-") ? String(name.dropFirst(3)) : name,
                "the header \(name) is not UTF-8; attributes of an event may be percent-encoded"
            )
        }
    }

    private func problem(of error: any Error) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as ModelError: return Problem(error)
        default:
            logger.error("a request could not be handled", metadata: [LogMetadata.error: "\(error)"])
            return .internalError
        }
    }
}

/// A call that may be made, its body still to come.
struct Call: Sendable {
    let request: Request
    let target: RequestTarget
    let idempotencyKey: IdempotencyKey?
}
