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
            response = try await answer(request)
        } catch let error as HTTPParserError {
            // The server answers broken HTTP itself and closes the connection.
            throw error
        } catch {
            response = problem(of: error).response(instance: nil)
        }
        metrics.countHTTP(status: response.status.code)
        return response
    }

    private func answer(_ request: Request) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "")
        let segments = target.segments
        if segments == ["v1", "events"] {
            guard request.method == .post else { throw Problem.methodNotAllowed([.post]) }
            return try await events.publish(request, target)
        }
        if segments.count == 5, segments[0] == "v1", segments[1] == "recipients", segments[3] == "notifications" {
            switch request.method {
            case .put: return try await notifications.put(request, target)
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

extension Request {
    /// Reads the body whole.
    ///
    /// - Throws: ``Problem`` 413 above the limit, 400 when less came than `Content-Length` says.
    func body(upTo limit: Int) async throws -> [UInt8] {
        let announced = headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > limit { throw Problem.bodyTooLarge(limit: limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(announced ?? 0)
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= limit else { throw Problem.bodyTooLarge(limit: limit) }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        if let announced, bytes.count < announced {
            throw ModelError(.invalid, "the body ends after \(bytes.count) of \(announced) bytes")
        }
        return bytes
    }

    /// `type/subtype` of the body in lower case, without parameters; nil when none is given.
    var mediaType: String? {
        guard let field = headers[.contentType] else { return nil }
        let type = field.prefix { $0 != ";" }
        return String(type.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
}

extension String {
    /// `application/json` or a type built on JSON.
    var isJSONMediaType: Bool {
        self == "application/json" || self == "text/json" || hasSuffix("+json")
    }
}
