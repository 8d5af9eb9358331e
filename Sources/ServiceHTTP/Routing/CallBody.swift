import HTTPTypes
package import Hummingbird
import HummingbirdCore
import NIOCore
import NotificationModel

/// The body of a call, and the call's share of the memory of all calls. The body is read on demand only: a call that
/// its head already rules out is refused without it, and the client is asked to send it only on demand (`Expect:
/// 100-continue`).
package struct CallBody {
    /// The connection broke while the body was read; no client is left to answer.
    struct Lost: Error {
        var cause: any Error
    }

    /// An unwanted body up to this size is read and discarded, so that the connection can be kept.
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

    /// Reads the whole body. Its memory stays reserved until ``release()``.
    ///
    /// Bytes count when they arrive: a client that announces many and sends none takes nothing from the others. But a
    /// body without room is refused before it is sent.
    ///
    /// - Parameter limit: The limit of this resource in bytes.
    /// - Throws: ``Problem`` 413 above the limit, before or while it is read; 417; 503 when the memory of all calls is
    ///   exhausted; `ModelError` when the body is shorter than announced; ``Lost``.
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

    /// Reads a small body that no handler wanted; for any other body the connection closes after the response.
    ///
    /// - Throws: ``Lost``.
    mutating func discard() async throws {
        guard !isBegun, !expectsContinue, let announced, (1...Self.discardedBytes).contains(announced) else { return }
        isBegun = true
        var iterator = request.body.makeAsyncIterator()
        while try await next(&iterator) != nil {}
    }

    /// Releases the body's memory after the response.
    mutating func release() {
        memory.give(taken)
        taken = 0
    }

    /// Reserves memory for data derived from the call, until ``release()``.
    ///
    /// - Throws: ``Problem`` 503 when the memory of all calls is exhausted.
    package mutating func take(_ bytes: Int) throws(Problem) {
        guard memory.take(bytes) else { throw .overloaded }
        taken += bytes
    }

    /// Reserves memory for the answer, until its last part is sent.
    ///
    /// - Throws: ``Problem`` 503 when the memory of all calls is exhausted.
    package func lease(_ bytes: Int) throws(Problem) -> CallMemory.Lease {
        guard memory.take(bytes) else { throw .overloaded }
        return CallMemory.Lease(memory, bytes)
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
    /// `type/subtype` of the body in lower case, without parameters; nil if missing.
    package var mediaType: String? {
        guard let field = headers[.contentType] else { return nil }
        // A fast path for the most common type.
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
