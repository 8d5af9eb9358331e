package import NIOHTTP1

/// What to do with an answer, by its head.
package enum AnswerPlan: Sendable {
    /// The body goes there.
    case body(any AnswerBody)
    /// The body, if any, is of no interest.
    case end(Result<any OutboundAnswer, OutboundFailure>)

    package static func failure(_ failure: OutboundFailure) -> AnswerPlan { .end(.failure(failure)) }

    package static func failure(_ code: OutboundFailure.Code, _ detail: String, of url: EgressURL) -> AnswerPlan {
        failure(OutboundFailure(code, "\(url.host): \(detail)"))
    }

    /// Why the body of an answer is not read at all; nil if it may be.
    ///
    /// - Parameters:
    ///   - head: With the length and the codings of the body.
    ///   - largest: The most bytes.
    ///   - url: That was asked.
    package static func refusal(ofBody head: HTTPResponseHead, largest: Int64, of url: EgressURL) -> AnswerPlan? {
        let codings = head.headers[canonicalForm: "content-encoding"].filter { $0.lowercased() != "identity" }
        guard codings.isEmpty else {
            return failure(.encodingRefused, "a content coding, though none was asked for", of: url)
        }
        let transfers = head.headers[canonicalForm: "transfer-encoding"].filter { $0.lowercased() != "chunked" }
        guard transfers.isEmpty else {
            return failure(.encodingRefused, "a transfer coding other than chunked", of: url)
        }
        if let length = contentLength(head), length > largest {
            return failure(OutboundFailure(.tooLarge, "\(length) bytes; at most \(largest) are allowed"))
        }
        return nil
    }

    /// A length beyond 64 bits counts as the largest one.
    package static func contentLength(_ head: HTTPResponseHead) -> Int64? {
        head.headers.first(name: "content-length").map { Int64($0) ?? .max }
    }
}
