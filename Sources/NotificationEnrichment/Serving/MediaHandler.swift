import HTTPTypes
import Hummingbird
import NIOCore
package import NIOPosix
import NotificationModel
package import ServiceHTTP

/// Serves the stored media: `GET` and `HEAD` `/media/<digest>.<extension>`, for clients that have no token of the API.
///
/// The bytes come from files, read on a thread pool in pieces, each after the client has taken the previous one.
package struct MediaHandler: Sendable {
    /// The bytes of a piece. A medium that is not larger takes one job of the pool.
    private static let pieceBytes: Int64 = 65_536

    private let store: MediaStore
    private let links: MediaLinks
    private let threads: NIOThreadPool
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - store: The media.
    ///   - links: Checks signed links.
    ///   - threads: Does the reading; it must be running.
    ///   - now: Milliseconds since 1970.
    package init(
        store: MediaStore,
        links: MediaLinks,
        threads: NIOThreadPool,
        now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.links = links
        self.threads = threads
        self.now = now
    }

    package var routes: [Route] {
        [Route(.get, "/media/{file}", role: nil, isPublic: true) { call, _ in try await serve(call) }]
    }

    private func serve(_ call: Call) async throws -> Response {
        let name = try call.parameter("file")
        let caching = try caching(of: name, call.target.parameters(allowed: ["expires", "signature"]))
        let method = call.request.method
        let conditions = MediaAnswer.Conditions(call.request.headers)
        let opened = try await threads.runIfActive { [store] () throws -> Opened? in
            guard let file = try store.open(name) else { return nil }
            let answer = MediaAnswer(file.media, method: method, conditions, caching: caching)
            return Opened(file: file, answer: answer, first: try Self.piece(of: file, answer.body))
        }
        guard let opened else { throw Problem.noMedia }
        let answer = opened.answer
        guard answer.status != .rangeNotSatisfiable else { throw Problem.rangeNotSatisfiable(answer.fields) }
        return Response(status: answer.status, headers: answer.fields, body: body(of: opened))
    }

    /// - Throws: ``Problem`` 403 for a link that is not valid.
    private func caching(
        of name: String,
        _ parameters: RequestTarget.Parameters
    ) throws(Problem) -> MediaAnswer.Caching {
        switch links.verify(
            name,
            expires: parameters["expires"],
            signature: parameters["signature"],
            at: now()
        ) {
        case .open: return .everybody
        case .valid(let seconds): return .client(seconds: seconds)
        case .expired: throw .linkExpired
        case .wrong: throw .linkWrong
        }
    }

    /// An open medium, the answer, and the first piece of it.
    private struct Opened: Sendable {
        var file: OpenMedia
        var answer: MediaAnswer
        var first: ByteBuffer
    }

    private func body(of opened: Opened) -> ResponseBody {
        let (bytes, first) = (opened.answer.body, opened.first)
        guard first.readableBytes < bytes.count else { return ResponseBody(byteBuffer: first) }
        return ResponseBody(contentLength: bytes.count) { [threads, file = opened.file] writer in
            var position = bytes.lowerBound + Int64(first.readableBytes)
            try await writer.write(first)
            while position < bytes.upperBound {
                let rest = position..<bytes.upperBound
                let piece = try await threads.runIfActive { try Self.piece(of: file, rest) }
                position += Int64(piece.readableBytes)
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }

    /// The first bytes of a range; blocks.
    ///
    /// - Throws: ``MediaStoreError``, also when the file has become shorter; the connection is then broken off.
    private static func piece(of file: OpenMedia, _ range: Range<Int64>) throws -> ByteBuffer {
        let wanted = Int(min(Int64(range.count), pieceBytes))
        var piece = ByteBufferAllocator().buffer(capacity: wanted)
        while piece.readableBytes < wanted {
            let missing = wanted - piece.readableBytes
            let position = range.lowerBound + Int64(piece.readableBytes)
            let count = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) { space in
                try file.read(at: position, into: UnsafeMutableRawBufferPointer(rebasing: space.prefix(missing)))
            }
            guard count > 0 else {
                throw MediaStoreError(.failed, "\(file.media.fileName) ends at \(position), before \(range.upperBound)")
            }
        }
        return piece
    }
}

extension Problem {
    fileprivate static let noMedia = Problem(
        .notFound,
        .notFound,
        "There is no such medium, or not any more.",
        // It may be stored again.
        headers: [.cacheControl: "no-store"]
    )

    fileprivate static let linkExpired = Problem(
        .forbidden,
        .forbidden,
        "The link has expired.",
        field: "expires",
        headers: [.cacheControl: "no-store"]
    )

    fileprivate static let linkWrong = Problem(
        .forbidden,
        .forbidden,
        "The link has no valid signature for this medium. Use it as it was given, with its whole query.",
        field: "signature",
        headers: [.cacheControl: "no-store"]
    )

    fileprivate static func rangeNotSatisfiable(_ fields: HTTPFields) -> Problem {
        Problem(
            .rangeNotSatisfiable,
            .invalid,
            "The range begins after the end of the medium, or is empty.",
            field: "range",
            headers: fields
        )
    }
}
