import Foundation
import NotificationModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls a service's HTTP API.
struct ServiceClient: Sendable {
    /// Scheme, host and port.
    var base: URLComponents
    /// For `Authorization`; nil without one.
    var token: String?
    /// How long to wait for an answer.
    var timeout: SpanArgument

    /// A service at an address of this machine.
    init(on address: HostPort, token: String? = nil) {
        var base = URLComponents()
        (base.scheme, base.host, base.port) = ("http", address.host, address.port)
        self.init(base: base, token: token, timeout: SpanArgument(.seconds(20)))
    }

    /// - Parameters:
    ///   - base: Scheme, host and port.
    ///   - token: For `Authorization`; nil without one.
    ///   - timeout: How long to wait for an answer.
    init(base: URLComponents, token: String?, timeout: SpanArgument) {
        (self.base, self.token, self.timeout) = (base, token, timeout)
    }

    /// Calls the service once.
    ///
    /// - Parameters:
    ///   - method: of HTTP.
    ///   - path: percent-encoded.
    ///   - query: names, and values that are not encoded yet; nil values are left out.
    ///   - body: JSON.
    /// - Returns: the body of a 2xx answer.
    /// - Throws: ``CommandFailure`` with the service's problem, or when there is no answer.
    func call(
        _ method: String,
        _ path: String,
        query: [(name: String, value: String?)] = [],
        body: [UInt8]? = nil
    ) async throws -> [UInt8] {
        let parts = query.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        let answer = try await exchange(
            method,
            path,
            query: parts.isEmpty ? nil : parts.joined(separator: "&"),
            body: body,
            authorization: token.map { "Bearer \($0)" }
        )
        guard (200..<300).contains(answer.status) else { throw Self.failure(answer.status, answer.body) }
        return answer.body
    }

    /// The answer of a service, whatever it is.
    struct Answer {
        var status: Int
        /// The media type; nil without one.
        var contentType: String?
        /// `Retry-After`; nil without one.
        var retryAfter: String?
        var body: [UInt8]
    }

    /// Calls the service once, for a caller with rights of its own.
    ///
    /// - Parameters:
    ///   - method: of HTTP.
    ///   - path: percent-encoded.
    ///   - query: percent-encoded; nil without one.
    ///   - body: JSON.
    ///   - authorization: the header; nil without one.
    /// - Throws: ``CommandFailure`` when there is no answer.
    func exchange(
        _ method: String,
        _ path: String,
        query: String? = nil,
        body: [UInt8]? = nil,
        authorization: String? = nil
    ) async throws -> Answer {
        var components = base
        // Foundation ends the process when what it is given is not encoded.
        let isEncoded = Self.isEncoded(path) && Self.isEncoded(query ?? "")
        if isEncoded { (components.percentEncodedPath, components.percentEncodedQuery) = (path, query) }
        guard isEncoded, let url = components.url else {
            throw CommandFailure("\(RecordText.safe(path)) is no path of a URL", status: ExitStatus.usage)
        }
        var request = URLRequest(url: url, timeoutInterval: timeout.seconds)
        request.httpMethod = method
        if let body {
            request.httpBody = Data(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        let session = URLSession(configuration: .ephemeral, delegate: NoRedirect(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await session.data(for: request)
        } catch {
            throw CommandFailure(
                "no answer from \(RecordText.safe(base.string ?? "")): \(RecordText.safe(error.localizedDescription))",
                status: ExitStatus.unavailable
            )
        }
        let http = response as? HTTPURLResponse
        return Answer(
            status: http?.statusCode ?? 0,
            contentType: http?.value(forHTTPHeaderField: "Content-Type"),
            retryAfter: http?.value(forHTTPHeaderField: "Retry-After"),
            body: Array(data)
        )
    }

    /// Whether it is percent-encoded, as paths and queries are (RFC 3986, 3.3 and 3.4).
    static func isEncoded(_ text: String) -> Bool {
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard rest.count >= 2, rest.prefix(2).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
                    return false
                }
                rest.removeFirst(2)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                continue
            default: guard "-._~!$&'()*+,:=@/".utf8.contains(byte) else { return false }
            }
        }
        return true
    }

    /// Follows no redirect, which would get the token; the service sends none.
    private final class NoRedirect: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    /// The service's problem, for a person.
    static func failure(_ status: Int, _ body: [UInt8]) -> CommandFailure {
        let problem = try? JSONValue.parse(body)
        func member(_ name: String) -> String? { problem?[name]?.stringValue.map(RecordText.safe) }
        var text = "the service answered \(status)"
        if (300..<400).contains(status) { text += ", a redirect, which is not followed: check --url" }
        if let reason = member("reason") { text += ", \(reason)" }
        if let field = member("field") { text += " at \(field)" }
        if let detail = member("detail") { text += ": \(detail)" }
        let exit: Int32 =
            switch status {
            case 400, 413, 422: ExitStatus.badData
            case 502...504: ExitStatus.unavailable
            default: ExitStatus.failed
            }
        return CommandFailure(text, status: exit)
    }
}
