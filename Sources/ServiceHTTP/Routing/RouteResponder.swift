import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
package import NotificationModel
package import ServiceTracing

/// An HTTP interface: finds the route of a call, answers invalid calls with a ``Problem``, and passes the others to the
/// handlers. A call that its head already rules out is answered without its body.
package struct RouteResponder: HTTPResponder {
    package typealias Context = CallContext

    private let table: RouteTable
    private let access: AccessControl
    private let memory: CallMemory
    private let metrics: ConnectionMetrics
    private let tracer: Tracer?
    private let logger: Logger

    /// - Parameters:
    ///   - routes: If several paths match a call, the first route counts.
    ///   - access: Who may call.
    ///   - memory: The memory limit of all bodies.
    ///   - tracer: Gets a span of each sampled call; nil where nothing is traced.
    package init(
        _ routes: [Route],
        access: AccessControl,
        memory: CallMemory,
        metrics: ConnectionMetrics,
        tracer: Tracer? = nil,
        logger: Logger
    ) {
        table = RouteTable(routes, metrics: metrics)
        self.access = access
        self.memory = memory
        self.metrics = metrics
        self.tracer = tracer
        self.logger = logger
    }

    package func respond(to request: Request, context: CallContext) async throws -> Response {
        let began = ContinuousClock.now
        let target = RequestTarget(request.head.path ?? "")
        let resource = table.resource(at: target)
        var body = CallBody(of: request, on: context.channel, memory: memory)
        defer { body.release() }
        let response: Response
        do {
            do {
                response = try await answer(request, target, resource, context.channel, &body)
                metrics.countAnswer(status: response.status.code)
            } catch let error as CallBody.Lost {
                throw error
            } catch {
                let problem = problem(of: error)
                // Otherwise the connection's own response was counted already.
                if context.channel.isActive { metrics.countRefusal(problem.reason, status: problem.status.code) }
                try await body.discard()
                response = problem.response
            }
        } catch let error as CallBody.Lost {
            throw error.cause
        }
        table.record(began.duration(to: .now), of: resource, request.method)
        // The response to HEAD has the headers of the GET response, and no body.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request,
        _ target: RequestTarget,
        _ resource: RouteTable.Resource?,
        _ channel: any Channel,
        _ body: inout CallBody
    ) async throws -> Response {
        try checkBytes(of: request.headers)
        var rights = Rights(caller: .anyone, application: access.defaultApplication)
        if resource?.isPublic != true { rights = try authorize(request, target, resource) }
        guard let resource else { throw Problem.notFound }
        let route = try resource.route(for: request.method)
        let (request, span) = begin(request, route)
        let call = Call(
            request: request,
            target: target,
            caller: rights.caller,
            application: rights.application,
            isOfOtherApplication: rights.isOfOtherApplication,
            path: route.path,
            channel: channel
        )
        do {
            let response = try await route.handler(call, &body)
            if let span { end(span, status: response.status.code) }
            return response
        } catch {
            if let span { end(span, status: (error is CallBody.Lost ? nil : problem(of: error).status.code)) }
            throw error
        }
    }

    // MARK: - Spans

    /// Begins the span of a call, which the request names from here on. A call that everybody may make has none: strangers must
    /// not decide what is traced.
    private func begin(_ request: Request, _ route: Route) -> (Request, Span?) {
        guard let tracer, !route.isPublic else { return (request, nil) }
        let caller = request.traceContext
        guard let context = tracer.begin(after: caller) else { return (request, nil) }
        var span = Span(
            "\(request.method.rawValue) \(route.path.text)",
            .server,
            context,
            parent: caller?.sampled,
            start: tracer.now
        )
        span.set("http.request.method", request.method.rawValue)
        span.set("http.route", route.path.text)
        return (request.naming(context), span)
    }

    /// - Parameter status: nil when the caller is gone.
    private func end(_ span: Span, status: Int?) {
        var span = span
        if let status { span.set("http.response.status_code", Int64(status)) }
        // A fault of the caller is no error of a server, as the conventions say.
        tracer?.end(span, error: status.map { $0 >= 500 ? "\($0)" : nil } ?? "cancelled")
    }

    private struct Rights {
        var caller: Caller
        var application: String
        var isOfOtherApplication = false
    }

    /// A caller without access does not learn which routes there are.
    private func authorize(
        _ request: Request,
        _ target: RequestTarget,
        _ resource: RouteTable.Resource?
    ) throws -> Rights {
        let caller = try access.access().caller(of: request.head, at: access.now())
        var rights = Rights(caller: caller, application: access.defaultApplication)
        guard let route = try resource?.route(for: request.method) else { return rights }
        if let recipient = caller.recipient {
            guard route.allowsRecipients else { throw Problem.notForRecipients }
            guard try route.path.parameter("recipient", in: target).hasSameUTF8(as: recipient) else {
                throw Problem.otherRecipient
            }
        } else if let role = route.role, !caller.may(role) {
            throw Problem.forbidden(role)
        }
        guard route.role != nil, route.scope != .handler else { return rights }
        rights.application = try target.first("application") ?? access.defaultApplication
        guard !caller.applications.contains(rights.application) else { return rights }
        guard route.scope == .hiddenApplication else { throw Problem.otherApplication }
        rights.isOfOtherApplication = true
        return rights
    }

    /// Refuses header bytes that are not UTF-8. The decoder replaces them with U+FFFD, so that different texts look the
    /// same; the check looks for that character. A client that means U+FFFD can percent-encode it where the header
    /// allows that.
    private func checkBytes(of headers: HTTPFields) throws(ModelError) {
        for field in headers where field.value.utf8.contains(0xEF) && field.value.unicodeScalars.contains("\u{FFFD}") {
            let name = field.name.canonicalName
            throw ModelError(
                .notUTF8,
                // Name a CloudEvents attribute without its prefix.
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
            logger.error("request failed with an internal error", metadata: ["error": "\(error)"])
            return .internalError
        }
    }
}

extension Request {
    private static let traceparent = HTTPField.Name("traceparent")
    private static let tracestate = HTTPField.Name("tracestate")

    /// The trace context of the caller or, where it is traced, of the call; ignores invalid ones.
    package var traceContext: TraceContext? {
        guard let name = Self.traceparent, let traceparent = headers[name] else { return nil }
        return TraceContext(traceparent: traceparent, tracestate: Self.tracestate.flatMap { headers[$0] })
    }

    /// The same request, naming a span.
    fileprivate func naming(_ span: SpanContext) -> Request {
        var head = head
        if let name = Self.traceparent { head.headerFields[name] = span.traceparent }
        return Request(head: head, body: body)
    }
}
