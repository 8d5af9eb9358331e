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
    private let transfers: MediaTransfers
    private let threads: NIOThreadPool
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - store: The media.
    ///   - links: Checks signed links.
    ///   - transfers: Bounds what is sent at one time.
    ///   - threads: Does the reading; it must be running.
    ///   - now: Milliseconds since 1970.
    package init(
        store: MediaStore,
        links: MediaLinks,
        transfers: MediaTransfers,
        threads: NIOThreadPool,
        now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.links = links
        self.transfers = transfers
        self.threads = threads
        self.now = now
    }

    package var routes: [Route] {
        [Route(.get, "/media/{file}", role: nil, isPublic: true) { call, body in try await serve(call, body) }]
    }

    private func serve(_ call: Call, _ callBody: CallBody) async throws -> Response {
        let name = try call.parameter("file")
        let caching = try caching(of: name, call.target.parameters(allowed: ["expires", "signature"]))
        let method = call.request.method
        // Before the file is opened, and until the client has taken the last byte.
        let transfer = try transfers.begin(for: call.client)
        let memory = try callBody.lease(2 * Int(Self.pieceBytes))
        let conditions = MediaAnswer.Conditions(call.request.headers)
        let opened = try await threads.runIfActive { [store] () throws -> Opened? in
            guard let file = try store.open(name) else { return nil }
            let answer = MediaAnswer(file.media, method: method, conditions, caching: caching)
            return Opened(file: file, answer: answer, first: try Self.piece(of: file, answer.body))
        }
        guard let opened else { throw Problem.noMedia }
        let answer = opened.answer
        guard answer.status != .rangeNotSatisfiable else { throw Problem.rangeNotSatisfiable(answer.fields) }
        return Response(status: answer.status, headers: answer.fields, body: body(of: opened, [transfer, memory]))
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

    /// - Parameter held: What is freed when the body is sent.
    private func body(of opened: Opened, _ held: [any Sendable]) -> ResponseBody {
        let (bytes, first) = (opened.answer.body, opened.first)
        guard !bytes.isEmpty else { return ResponseBody(byteBuffer: first) }
        // One that the first piece contains needs its file no more.
        let file = first.readableBytes < bytes.count ? opened.file : nil
        return ResponseBody(contentLength: bytes.count) { [threads, transfers] writer in
            let begin = ContinuousClock.now
            var position = bytes.lowerBound + Int64(first.readableBytes)
            try await writer.write(first)
            while let file, position < bytes.upperBound {
                try transfers.check(position - bytes.lowerBound, in: ContinuousClock.now - begin)
                let rest = position..<bytes.upperBound
                let piece = try await threads.runIfActive { try Self.piece(of: file, rest) }
                position += Int64(piece.readableBytes)
                // It returns when the client has taken most of what was written before; the guard of the connection ends
                // one that takes nothing.
                try await writer.write(piece)
            }
            try await writer.finish(nil)
            _ = held
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
