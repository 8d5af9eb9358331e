package import HTTPTypes
package import Hummingbird
import NIOCore
package import NotificationModel
package import ServiceHTTP

extension Response {
    package static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: value.json))
        )
    }

    package static func json(_ value: JSONValue?, orMissing what: String) throws(Problem) -> Response {
        guard let value else { throw .missing(what) }
        return json(value)
    }

    package static func done(_ isDone: Bool, orMissing what: String) throws(Problem) -> Response {
        guard isDone else { throw .missing(what) }
        return Response(status: .noContent)
    }
}

extension Problem {
    package static func missing(_ what: String) -> Problem {
        Problem(.notFound, .notFound, "There is no \(what).")
    }
}

extension Call {
    /// Bytes of a body.
    private static let bodyBytes = 64 << 10

    /// The members of the JSON object in the body.
    package func fields(_ body: inout CallBody, _ known: [String]) async throws -> BodyFields {
        let bytes = try await body.read(upTo: Self.bodyBytes)
        guard bytes.isEmpty || request.mediaType?.isJSONMediaType == true else {
            throw Problem.unsupportedMediaType("application/json")
        }
        return try BodyFields(bytes, known: known)
    }
}

extension SimulatorError {
    /// Makes a problem of what the simulator refuses.
    package static func answering<Result>(
        _ field: String,
        _ body: () throws(SimulatorError) -> Result
    ) throws(ModelError) -> Result {
        do throws(SimulatorError) {
            return try body()
        } catch {
            throw ModelError(.invalid, field: field, error.description)
        }
    }
}

extension JSONValue {
    package static func number(_ value: Int64) -> JSONValue { .number("\(value)") }
    package static func number(_ value: Int) -> JSONValue { .number("\(value)") }
    package static func number(_ value: Double) -> JSONValue {
        var text: [UInt8] = []
        JSONWriter.append(number: value, to: &text)
        return .number(String(decoding: text, as: UTF8.self))
    }
    package static func seconds(_ value: Duration) -> JSONValue { number(value / .seconds(1)) }

    /// The members that are there.
    package static func object(of members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// What came as JSON.
    package init(payload: [UInt8]) {
        self = (try? JSONValue.parse(payload)) ?? .string(String(decoding: payload, as: UTF8.self))
    }
}
