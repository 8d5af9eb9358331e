import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel

/// The body of a request, read before anything is answered: a client that writes all of its request before it reads would
/// otherwise wait for us while we wait for it.
struct ReceivedBody: Sendable {
    /// What comes beyond a body's bound is read up to here and thrown away; whoever sends more may lose the answer.
    static let maximumDiscarded = 16 << 20

    private let bytes: [UInt8]
    private let total: Int
    private let announced: Int?

    /// - Parameter limit: The largest body of any resource; more is not kept.
    init(of request: Request, keeping limit: Int) async throws {
        announced = request.headers[.contentLength].flatMap { Int($0) }
        var bytes: [UInt8] = []
        var total = 0
        if announced ?? 0 <= Self.maximumDiscarded {
            bytes.reserveCapacity(min(announced ?? 0, limit))
            for try await buffer in request.body {
                total += buffer.readableBytes
                if total <= limit { bytes.append(contentsOf: buffer.readableBytesView) }
                if total > Self.maximumDiscarded { break }
            }
        } else {
            total = announced ?? 0
        }
        self.bytes = bytes
        self.total = total
    }

    /// The body.
    ///
    /// - Parameter limit: The bound of this resource, at most what was kept.
    /// - Throws: ``Problem`` 413 above the limit, `ModelError` when less came than was announced.
    func bytes(upTo limit: Int) throws -> [UInt8] {
        guard total <= limit else { throw Problem.bodyTooLarge(limit: limit) }
        if let announced, total < announced {
            throw ModelError(.invalid, "the body ends after \(total) of \(announced) bytes")
        }
        return bytes
    }
}

extension Request {
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
