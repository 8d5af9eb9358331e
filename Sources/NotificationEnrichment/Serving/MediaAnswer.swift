package import HTTPTypes

/// The answer to `GET` or `HEAD` for a medium that the store has: status, header fields, and the bytes to send
/// (RFC 9110).
package struct MediaAnswer: Hashable, Sendable {
    /// The header fields of a request that count for the answer.
    package struct Conditions: Hashable, Sendable {
        package var range: String?
        package var ifNoneMatch: String?
        package var ifRange: String?

        package init(range: String? = nil, ifNoneMatch: String? = nil, ifRange: String? = nil) {
            (self.range, self.ifNoneMatch, self.ifRange) = (range, ifNoneMatch, ifRange)
        }

        package init(_ fields: HTTPFields) {
            self.init(range: fields[.range], ifNoneMatch: fields[.ifNoneMatch], ifRange: fields[.ifRange])
        }
    }

    /// Who may keep the answer, and for how long.
    package enum Caching: Hashable, Sendable {
        /// Everybody, for good: an address always names the same bytes.
        case everybody
        /// The client alone, as long as its signed link is valid.
        case client(seconds: Int64)
    }

    /// 200, 206, 304, or 416, which has no body of its own here.
    package var status: HTTPResponse.Status
    package var fields: HTTPFields
    /// Positions of the bytes to send; empty for none.
    package var body: Range<Int64>

    /// A year, after which nobody keeps an answer anyway, in seconds (RFC 9111 names no bound).
    private static let longestAge: Int64 = 31_536_000

    /// - Parameters:
    ///   - media: The medium; it has at least one byte.
    ///   - method: For `HEAD` the answer is that of `GET` without a range (RFC 9110, 14.2), and nothing is sent.
    ///   - conditions: What the client asks for.
    ///   - caching: Who may keep the answer.
    package init(_ media: StoredMedia, method: HTTPRequest.Method, _ conditions: Conditions, caching: Caching) {
        let entityTag = "\"\(media.digest)\""
        fields = [
            .eTag: entityTag,
            .cacheControl: Self.cacheControl(caching),
            .acceptRanges: "bytes",
            .crossOriginResourcePolicy: "cross-origin",
        ]
        if let tags = conditions.ifNoneMatch, Self.matches(tags, entityTag) {
            status = .notModified
            // That of the answer 200, if any (RFC 9110, 8.6); the framework would set 0.
            fields[.contentLength] = "\(media.bytes)"
            body = 0..<0
            return
        }
        // No client may take the bytes for something else: they come from others.
        fields[.contentType] = media.type.mimeType
        fields[.xContentTypeOptions] = "nosniff"
        fields[.contentDisposition] = "inline"
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox"

        // A date in If-Range never matches: there is no Last-Modified.
        let isRangeWanted =
            method == .get && (conditions.ifRange.map { $0.utf8[...].trimmed.elementsEqual(entityTag.utf8) } ?? true)
        let range = isRangeWanted ? conditions.range.flatMap { ByteRange($0) } : nil
        let bytes: Range<Int64>
        switch range.map({ $0.resolve(size: media.bytes) }) {
        case nil:
            status = .ok
            bytes = 0..<max(0, media.bytes)
        case .some(let found?):
            status = .partialContent
            bytes = found
            fields[.contentRange] = "bytes \(found.lowerBound)-\(found.upperBound - 1)/\(media.bytes)"
        case .some(nil):
            status = .rangeNotSatisfiable
            fields = [.contentRange: "bytes */\(media.bytes)"]
            body = 0..<0
            return
        }
        fields[.contentLength] = "\(bytes.count)"
        body = method == .head ? 0..<0 : bytes
    }

    private static func cacheControl(_ caching: Caching) -> String {
        switch caching {
        case .everybody: "public, max-age=\(longestAge), immutable"
        case .client(let seconds): "private, max-age=\(seconds.clamped(to: longestAge))"
        }
    }

    /// Whether If-None-Match names the entity tag; weak ones count (RFC 9110, 13.1.2).
    private static func matches(_ list: String, _ entityTag: String) -> Bool {
        let tag = entityTag.utf8
        // Our tag has no comma, so no part of a tag with commas can be equal to it with both its quotes.
        return list.utf8[...].split(separator: UInt8(ascii: ",")).contains { item in
            let item = item.trimmed
            return item.elementsEqual(tag) || item.elementsEqual("W/\(entityTag)".utf8) || item.elementsEqual("*".utf8)
        }
    }
}
