import NIOCore
import NIOHTTP1
import NotificationModel
import OutboundHTTP
import Synchronization

/// The access tokens of one service account (RFC 7523), shared by all pushes of its project.
final class AccessTokens: Sendable {
    /// A token, and what identifies it to its source.
    struct Token: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The value of the header `authorization`.
        let authorization: String
        /// Counted from 1.
        let number: Int

        /// Nothing of the token.
        var description: String { "access token \(number)" }

        /// Nothing of the token.
        var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// What a push gets.
    enum Supply: Sendable {
        case token(Token)
        /// None, and the pause in milliseconds after which there may be one.
        case none(TokenFailure, pause: Int64)
    }

    private struct Contents {
        var schedule = AccessTokenSchedule()
        var token: Token?
        var count = 0
        var waiting: [@Sendable (Supply) -> Void] = []
        /// When the last one was refused by the push service.
        var refusedAt: Timestamp?
    }

    /// Two tokens in a row that are refused within this time, in milliseconds: more of them would be, too.
    private static let refusalWindow: Int64 = 60_000

    let account: ServiceAccount
    private let server: TokenServer
    private let wall: @Sendable () -> Timestamp
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - server: that the account's `token_uri` names.
    ///   - wall: the wall clock.
    init(_ account: ServiceAccount, from server: TokenServer, wall: @escaping @Sendable () -> Timestamp) {
        (self.account, self.server, self.wall) = (account, server, wall)
    }

    /// The token to use now.
    ///
    /// - Parameter use: called at once when there is a token or none can come, else when the request for it has ended, on a
    ///   thread that must not wait.
    func token(_ use: @escaping @Sendable (Supply) -> Void) {
        let (supply, begins) = contents.withLock { contents -> (Supply?, Bool) in
            let step = contents.schedule.step(at: wall().rawValue)
            switch (step, contents.token) {
            case (.use, let token?): return (.token(token), false)
            case (.useAndRenew, let token?): return (.token(token), true)
            case (.refused(let failure, let pause), _): return (.none(failure, pause: pause), false)
            case (.wait(let begins), _):
                contents.waiting.append(use)
                return (nil, begins)
            // There is always a token when the schedule says so.
            case (.use, nil), (.useAndRenew, nil):
                return (.none(.unavailable("there is no access token", retryAfter: nil), pause: 1000), false)
            }
        }
        if begins { ask() }
        if let supply { use(supply) }
    }

    /// The push service refused a token.
    ///
    /// - Returns: whether the push may be sent once more with another one; false when that is refused as well, so that the
    ///   account and not the token is the reason.
    func renew(refused: Token) -> Bool {
        let now = wall()
        return contents.withLock { contents in
            guard contents.token == refused else { return true }
            if let last = contents.refusedAt, now.rawValue - last.rawValue < Self.refusalWindow { return false }
            contents.refusedAt = now
            contents.token = nil
            contents.schedule.discard()
            return true
        }
    }

    /// The credentials were read again: what was refused before may be asked for at once.
    func tryAgain() { contents.withLock { $0.schedule.tryAgain() } }

    private func ask() {
        guard let assertion = account.assertion(at: wall()) else {
            return end(.failure(.unavailable("no assertion can be signed", retryAfter: nil)))
        }
        server.exchange(assertion, at: wall) { [weak self] result in
            guard let self else { return }
            do throws(TokenFailure) {
                let answer = try result.get()
                end(.success(try answer.token(of: account, at: wall())))
            } catch {
                end(.failure(error))
            }
        }
    }

    private func end(_ result: Result<(token: String, lifetime: Int64), TokenFailure>) {
        let now = wall().rawValue
        let (waiting, supply) = contents.withLock { contents -> ([@Sendable (Supply) -> Void], Supply) in
            let supply: Supply
            switch result {
            case .success(let (text, lifetime)):
                contents.count += 1
                let token = Token(authorization: "Bearer \(text)", number: contents.count)
                contents.token = token
                contents.schedule.obtained(lifetime: lifetime, at: now)
                supply = .token(token)
            case .failure(let failure):
                contents.schedule.failed(failure, at: now)
                supply = .none(failure, pause: contents.schedule.pause(at: now))
            }
            defer { contents.waiting = [] }
            return (contents.waiting, supply)
        }
        for use in waiting { use(supply) }
    }
}

/// The service that exchanges assertions for access tokens, over HTTP/1.1.
final class TokenServer: Sendable {
    /// A file of many accounts must not open as many connections at once.
    private static let connections = 4
    private let url: EgressURL
    private let pool: OutboundConnections
    private let timeout: TimeAmount

    /// - Parameters:
    ///   - server: judged; its path is that of the requests.
    ///   - pool: connects to it.
    ///   - timeout: of a request with its connection and answer.
    init(_ server: PushServer, _ pool: OutboundConnections, timeout: TimeAmount) {
        (url, self.pool, self.timeout) = (server.origin, pool, timeout)
    }

    deinit { pool.close() }

    /// The bounds of its connections.
    static func bounds(timeout: TimeAmount) -> OutboundConnections.Settings {
        var bounds = OutboundConnections.Settings()
        (bounds.bound, bounds.boundPerHost) = (connections, connections)
        bounds.waiting = ApplicationsFile.maximumApplications
        bounds.isShared = false
        (bounds.connectTimeout, bounds.firstByteTimeout) = (timeout, timeout)
        return bounds
    }

    /// - Parameters:
    ///   - wall: the wall clock, for dates with two digits of the year.
    ///   - onEnd: called once.
    func exchange(
        _ assertion: String,
        at wall: @escaping @Sendable () -> Timestamp,
        onEnd: @escaping @Sendable (Result<TokenAnswer, TokenFailure>) -> Void
    ) {
        let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let head = OutboundExchange.head(
            .POST,
            url,
            [("content-type", "application/x-www-form-urlencoded"), ("content-length", "\(body.utf8.count)")]
        )
        let seen = HeadFields()
        let exchange = OutboundExchange(
            head,
            to: url,
            at: nil,
            body: ByteBuffer(string: body),
            by: .now() + timeout
        ) { [url] head in
            seen.fields.withLock { fields in
                fields.date = head.headers.first(name: "date").flatMap { HTTPDate.parse($0, at: wall()) }
                fields.retryAfter = head.headers.first(name: "retry-after").flatMap {
                    RetryAfter.milliseconds($0, at: wall())
                }
            }
            let largest = Int64(TokenAnswer.maximumBodyBytes)
            if let refusal = AnswerPlan.refusal(ofBody: head, largest: largest, of: url) { return refusal }
            return .body(CollectedBody(status: Int(head.status.code), bound: TokenAnswer.maximumBodyBytes))
        }
        exchange.begin(by: pool) { result in
            switch result {
            case .success(let answer as CollectedAnswer):
                let (date, retryAfter) = seen.fields.withLock { $0 }
                onEnd(
                    .success(
                        TokenAnswer(status: answer.status, body: answer.body, date: date, retryAfter: retryAfter)
                    )
                )
            case .success:
                onEnd(.failure(.unavailable("the token service gave no answer that can be read", retryAfter: nil)))
            case .failure(let failure):
                onEnd(.failure(.unavailable("the token service: \(failure.detail)", retryAfter: nil)))
            }
        }
    }

    /// Of the answer's head.
    private final class HeadFields: Sendable {
        let fields = Mutex<(date: Timestamp?, retryAfter: Int64?)>((nil, nil))
    }
}
