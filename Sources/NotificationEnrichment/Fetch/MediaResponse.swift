import NIOHTTP1
import OutboundHTTP

/// What a server answered to a request for a medium.
enum FetchAnswer: OutboundAnswer {
    case media(MediaBody.Stored, HTTPFreshness)
    case notModified(HTTPFreshness)
    case redirect(status: Int, location: String)
}

/// Judges answers to requests for a medium.
struct MediaResponse: Sendable {
    let url: EgressURL
    let isConditional: Bool
    let limits: MediaLimits
    /// Begins the storing of a medium with this declared type.
    let makeBody: @Sendable (_ mimeType: String?, HTTPFreshness) -> MediaBody

    func judge(_ head: HTTPResponseHead) -> AnswerPlan {
        let status = Int(clamping: head.status.code)
        switch status {
        case 200:
            let largest = max(limits.audioBytes, limits.imageBytes, limits.movieBytes)
            if let refusal = AnswerPlan.refusal(ofBody: head, largest: largest, of: url) { return refusal }
            return .body(makeBody(head.headers.first(name: "content-type"), HTTPFreshness(head.headers)))
        case 301, 302, 303, 307, 308:
            let locations = head.headers["location"]
            guard locations.count == 1, let location = locations.first else {
                let detail = "a redirect (\(status)) with \(locations.count) locations"
                return .failure(.invalidResponse, detail, of: url)
            }
            return .end(.success(FetchAnswer.redirect(status: status, location: location)))
        case 304 where isConditional:
            return .end(.success(FetchAnswer.notModified(HTTPFreshness(head.headers))))
        default:
            return .failure(.httpStatus, "answered with the status \(status)", of: url)
        }
    }
}
