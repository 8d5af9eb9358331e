import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NotificationModel
import ServiceSupport

/// The HTTP API: finds the resource, answers what cannot be done, and leaves the rest to the handlers.
///
/// Routing is done here on the raw path and not by the framework's router, which neither decodes path parameters nor knows
/// which methods a path takes.
struct ProducerAPI: HTTPResponder {
    typealias Context = BasicRequestContext

    let events: EventsHandler
    let notifications: NotificationsHandler
    let metrics: ProducerMetrics
    let logger: Logger

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        let response: Response
        do {
            let body = try await ReceivedBody(of: request, keeping: max(events.bodyLimit, notifications.bodyLimit))
            response = try await answer(request, body)
        } catch let error as HTTPParserError {
            // The server answers broken HTTP itself and closes the connection.
            throw error
        } catch {
            response = problem(of: error).response(instance: nil)
        }
        metrics.countHTTP(status: response.status.code)
        // The answer to HEAD has the headers of one with a body, and none.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request, _ body: ReceivedBody) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        let segments = target.segments
        if segments == ["v1", "events"] {
            guard request.method == .post else { throw Problem.methodNotAllowed([.post]) }
            return try await events.publish(request, target, body)
        }
        if segments.count == 5, segments[0] == "v1", segments[1] == "recipients", segments[3] == "notifications" {
            switch request.method {
            case .put: return try await notifications.put(request, target, body)
            case .delete: return try await notifications.delete(request, target)
            default: throw Problem.methodNotAllowed([.put, .delete])
            }
        }
        throw Problem.notFound
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
