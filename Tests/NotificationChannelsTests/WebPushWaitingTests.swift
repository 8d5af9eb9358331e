import HTTPTesting
import NotificationDelivery
import NotificationModel
import Synchronization
import Testing

@testable import NotificationChannels
@testable import WebPushSimulator

/// What waits at a push service for a browser that is away: what the channel sends, taken by the push service of this package.
@Suite("Messages that wait at a push service", .timeLimit(.minutes(5)))
struct WebPushWaitingTests {
    /// A browser that has subscribed at a push service, and has no connection now.
    private final class AbsentBrowser: Sendable {
        private struct Contents {
            var service = PushServiceState(seed: 1)
            var uaid: String?
            var audience = ""
        }

        private let contents = Mutex(Contents())
        private let now = WebPushSample.now

        private func say(_ json: String) throws -> [JSONValue] {
            let message = try #require(BrowserMessage(Array(json.utf8)))
            return try contents.withLock { contents in
                let audience = contents.audience
                let answers = contents.service.receive(message, on: 1, &contents.uaid, at: now) {
                    "\(audience)/push/\($0)"
                }
                return try answers.map { try JSONValue.parse($0.json) }
            }
        }

        /// - Parameter port: of the server that hands messages over.
        func subscribe(port: Int) throws -> TestBrowser {
            contents.withLock { $0.audience = "https://127.0.0.1:\(port)" }
            _ = try say(#"{"messageType":"hello"}"#)
            let answer = try say(#"{"messageType":"register","channelID":"page"}"#)
            contents.withLock { $0.service.disconnected(1, $0.uaid) }
            return try TestBrowser(#require(answer.first?["pushEndpoint"]?.stringValue))
        }

        /// What the push service makes of a request of the channel.
        func take(_ request: ScriptedEndpoint.Request) -> ScriptedEndpoint.Action {
            let push = SentPush(
                timeToLive: request.headers["ttl"],
                topic: request.headers["topic"],
                urgency: request.headers["urgency"],
                contentEncoding: request.headers["content-encoding"],
                authorization: request.headers["authorization"],
                body: request.body
            )
            return contents.withLock { contents in
                do throws(PushRefusal) {
                    let name = String(request.target.dropFirst("/push/".count))
                    let sent = try contents.service.push(push, to: name, audience: contents.audience, at: now)
                    return .answer(201, headers: ["location": "\(contents.audience)/message/\(sent.id)"])
                } catch {
                    return .answer(error.status)
                }
            }
        }

        /// The bodies that it gets when it connects again, decrypted.
        func comeBack(as browser: TestBrowser) throws -> [JSONValue] {
            let uaid = try #require(contents.withLock { $0.uaid })
            return try say(#"{"messageType":"hello","uaid":"\#(uaid)"}"#).compactMap { message -> JSONValue? in
                guard let data = message["data"]?.stringValue else { return nil }
                let body = try #require(Base64URL.decode(Substring(data).utf8))
                return try JSONValue.parse(#require(try browser.read(body)))
            }
        }
    }

    private static func send(_ kind: ChannelSend.Kind, to browser: TestBrowser) throws -> ChannelSend {
        var send = try NotificationChannelsTests.send("order", kind: kind, channel: .webpush)
        send.key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order")
        send.registration = try DeviceRegistration(platform: "webpush", token: browser.subscription.token)
        send.devices = Array(#"[{"device":"browser","presentation":["banner","list"]}]"#.utf8)[...]
        return send
    }

    private static func deliver(_ title: String) -> ChannelSend.Kind {
        .deliver(content: Array(#"{"title":"\#(title)"}"#.utf8)[...])
    }

    /// What waits has the topic of its notification, so that nobody needs the address of the message (`location`): a removal
    /// replaces also what was never answered, for which there is none.
    @Test(arguments: [true, false])
    func `a removal takes the place of what waits, answered or not: a browser that comes back gets only the removal`(
        _ isAnswered: Bool
    ) async throws {
        let absent = AbsentBrowser()
        let isFirst = Mutex(true)
        try await WebPushBench.with(
            more: "",
            { request in
                let action = absent.take(request)
                let isLost = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst && !isAnswered
                }
                return isLost ? .disconnect : action
            }
        ) { bench in
            let browser = try absent.subscribe(port: bench.service.port)
            var first = try Self.send(Self.deliver("On its way"), to: browser)
            first.expiration = bench.wall.now.adding(milliseconds: 3_600_000)
            #expect(await bench.desk.result(of: first) == (isAnswered ? .accepted : .unanswered(retryAfter: nil)))
            #expect(await bench.desk.result(of: try Self.send(.remove, to: browser)) == .removed(.requested))
            let times = bench.service.requests.compactMap { $0.headers["ttl"].flatMap { Int64($0) } }
            #expect(times == [3_600, WebPushMessage.longestLife])
            let bodies = try absent.comeBack(as: browser)
            #expect(bodies.count == 1)
            let topic = CollapseID(first.key).text
            #expect(bodies.first?.value(at: "carillon.remove")?.objectValue?.map(\.name) == [topic])
            #expect(bodies.first?["notification"] == nil)
        }
    }

    @Test func `a newer notification takes the place of what waits`() async throws {
        let absent = AbsentBrowser()
        try await WebPushBench.with(more: "", { absent.take($0) }) { bench in
            let browser = try absent.subscribe(port: bench.service.port)
            for title in ["On its way", "Delivered"] {
                #expect(await bench.desk.result(of: try Self.send(Self.deliver(title), to: browser)) == .accepted)
            }
            let titles = try absent.comeBack(as: browser).map { $0.value(at: "notification.title")?.stringValue }
            #expect(titles == ["Delivered"])
        }
    }
}
