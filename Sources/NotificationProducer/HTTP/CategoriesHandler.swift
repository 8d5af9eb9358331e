import Hummingbird
import Kafka
import NIOCore
import NotificationModel
import ServiceHTTP
import ServiceSupport

/// The categories of an application: `PUT /v1/categories` replaces all of them, `GET` answers with them, both with
/// `?application=`.
///
/// A repeated call sets the same categories, so that `Idempotency-Key` is accepted as for other writes and not needed.
struct CategoriesHandler: Sendable {
    let broker: BrokerGateway
    let table: CategoryTable
    /// Whether the table has what the topic has; before that nothing is known of the former actions.
    let isLoaded: @Sendable () -> Bool

    private static let path = "/v1/categories"

    var routes: [Route] {
        [
            Route(.put, Self.path, role: .publish) { call, body in try await put(call, &body) },
            Route(.get, Self.path, role: .query, scope: .hiddenApplication) { call, _ in try get(call) },
        ]
    }

    private func put(_ call: Call, _ body: inout CallBody) async throws -> Response {
        _ = try IdempotencyKey.read(call)
        let application = try application(of: call)
        guard call.request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        let given = try CategorySet(body: try await body.read(upTo: ModelLimits.categoryBodyBytes))
        guard isLoaded() else { throw Problem.unavailable }
        guard table.hasRoom(for: application) else {
            throw ModelError(
                .tooLarge,
                field: "application",
                "categories of \(CategoryTable.applications) applications are known already"
            )
        }
        let set = given.replacing(table.set(of: application))
        let acknowledgement = try await broker.publish(set, of: application)
        let (partition, offset) = (acknowledgement.partition, acknowledgement.offset)
        table.noteWritten(set, of: application, partition: partition, offset: offset)
        return .accepted(acknowledgement)
    }

    private func get(_ call: Call) throws -> Response {
        let application = try application(of: call)
        guard isLoaded() else { throw Problem.unavailable }
        guard !call.isOfOtherApplication, let set = table.set(of: application) else {
            throw Problem(.notFound, .notFound, "No categories were set for the application.")
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: set.bodyJSON))
        )
    }

    private func application(of call: Call) throws -> String {
        _ = try call.target.parameters(allowed: ["application"])
        _ = try CategoryKey.bytes(application: call.application)
        return call.application
    }
}
