import HTTPTypes
package import Hummingbird
import HummingbirdCore
import NIOCore
import NotificationModel

/// The body of a call, and what the call takes of the memory of all calls. It is not read before it is wanted: what the head
/// alone forbids is refused without it, and the client is told to send it only then (`Expect: 100-continue`).
package struct CallBody {
    /// The connection broke while the body was read; nobody is there to be answered.
    struct Lost: Error {
        var cause: any Error
    }

    /// A rest that is not wanted is read and thrown away when it is no larger, so that the connection can be kept.
    private static let discardedBytes = 65_536

    private let request: Request
    private let channel: any Channel
    private let memory: CallMemory
    private let announced: Int?
    private let expectsContinue: Bool
    private var taken = 0
    private var isBegun = false

    init(of request: Request, on channel: any Channel, memory: CallMemory) {
        self.request = request
        self.channel = channel
        self.memory = memory
        announced = request.headers[.contentLength].flatMap { Int($0) }
        expectsContinue = request.headers[.expect] != nil
    }

    /// Reads it whole. What it takes of the memory of all calls stays taken until ``release()``.
    ///
    /// Bytes count when they arrive: who announces many and sends none takes nothing from the others. But a body that has no room
    /// now is refused before it is sent.
    ///
    /// - Parameter limit: The bound of this resource in bytes.
    /// - Throws: ``Problem`` 413 above the limit, before or while it is read; 417; 503 when all calls together have too much;
    ///   `ModelError` when less came than was announced; ``Lost``.
    package mutating func read(upTo limit: Int) async throws -> [UInt8] {
        guard announced ?? 0 <= limit else { throw Problem.bodyTooLarge(limit: limit) }
        guard !expectsContinue || request.headers[.expect]?.lowercased() == "100-continue" else {
            throw Problem.expectationFailed
        }
        isBegun = true
        guard memory.hasRoom(for: announced ?? 0) else { throw Problem.overloaded }
        var bytes: [UInt8] = []
        if expectsContinue { channel.triggerUserOutboundEvent(ConnectionGuard.BodyIsWanted(), promise: nil) }
        var iterator = request.body.makeAsyncIterator()
        while let buffer = try await next(&iterator) {
            let count = bytes.count + buffer.readableBytes
            guard count <= limit else { throw Problem.bodyTooLarge(limit: limit) }
            try take(buffer.readableBytes)
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        if let announced, bytes.count < announced {
            throw ModelError(.invalid, "the body ends after \(bytes.count) of \(announced) bytes")
        }
        return bytes
    }

    /// Reads a small body that is not wanted after all; of any other the connection ends with the answer.
    ///
    /// - Throws: ``Lost``.
    mutating func discard() async throws {
        guard !isBegun, !expectsContinue, let announced, (1...Self.discardedBytes).contains(announced) else { return }
        isBegun = true
        var iterator = request.body.makeAsyncIterator()
        while try await next(&iterator) != nil {}
    }

    /// Gives back what the body took; the call is answered.
    mutating func release() {
        memory.give(taken)
        taken = 0
    }

    /// Counts what the call makes of itself in memory, until ``release()``.
    ///
    /// - Throws: ``Problem`` 503 when all calls together have too much.
    package mutating func take(_ bytes: Int) throws(Problem) {
        guard memory.take(bytes) else { throw .overloaded }
        taken += bytes
    }

    private func next(_ iterator: inout HummingbirdCore.RequestBody.AsyncIterator) async throws(Lost) -> ByteBuffer? {
        do {
            return try await iterator.next()
        } catch {
            throw Lost(cause: error)
        }
    }
}

extension Request {
    /// `type/subtype` of the body in lower case, without parameters; nil when none is given.
    package var mediaType: String? {
        guard let field = headers[.contentType] else { return nil }
        // The one that nearly all calls have needs no work.
        if field == "application/json" { return field }
        let type = field.prefix { $0 != ";" }
        return String(type.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
}

extension String {
    /// `application/json` or a type built on JSON.
    package var isJSONMediaType: Bool {
        self == "application/json" || self == "text/json" || hasSuffix("+json")
    }
}
