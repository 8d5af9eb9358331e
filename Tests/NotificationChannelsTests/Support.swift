import Foundation
import Logging
import NIOCore
import NIOSSL
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport
import Synchronization
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// The sends of a lane to a channel; the test waits for their outcomes.
final class Desk {
    private let channel: any DeliveryChannel
    private let wakes: AsyncStream<Void>
    private var sends: SideWork<Issued<ChannelSend>, ChannelResult>

    init(_ channel: any DeliveryChannel, concurrency: Int = 100_000) {
        self.channel = channel
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        self.wakes = wakes
        let late = Late()
        self.late = late
        sends = SideWork(
            concurrency: concurrency,
            bound: 100_000,
            mailbox: .init(wake: { wake.yield() }, onLate: { late.count.withLock { $0 += 1 } })
        )
    }

    private final class Late: Sendable {
        let count = Mutex(0)
    }

    private let late: Late

    /// Duplicate outcomes, and outcomes after a cancel.
    var lateOutcomes: Int { late.count.withLock { $0 } }

    func begin(_ sends: ChannelSend...) { begin(sends) }

    func begin(_ new: [ChannelSend]) {
        for send in new { sends.add(Issued(send, of: 0, in: 1), within: .seconds(3600)) }
        sends.begin(at: .now) { channel.begin($0, $1) }
        channel.flush()
    }

    /// Waits for the outcomes of so many sends, and begins those that waited for their end.
    func outcomes(_ count: Int = 1) async -> [(send: ChannelSend, result: ChannelResult)] {
        var results: [(send: ChannelSend, result: ChannelResult)] = []
        func take() {
            for case (let send, .answered(let result)) in sends.take(at: .now) { results.append((send.work, result)) }
            sends.begin(at: .now) { channel.begin($0, $1) }
            channel.flush()
        }
        take()
        guard results.count < count else { return results }
        for await _ in wakes {
            take()
            if results.count >= count { break }
        }
        return results
    }

    /// Sends once and waits for the outcome.
    func result(of send: ChannelSend) async -> ChannelResult? {
        begin(send)
        return await outcomes().first?.result
    }

    func cancelAll() { for reply in sends.cancel(where: { _ in true }) { channel.cancel(reply) } }
}

/// A send of the request with that name; its id depends on all but the attempt.
func send(
    _ name: String,
    occurrence: Timestamp? = nil,
    attempt: Int = 1,
    kind: ChannelSend.Kind = .deliver(content: Array(#"{"title":"T"}"#.utf8)[...]),
    channel: ChannelName = .webhook
) throws -> ChannelSend {
    let pieces = [name, occurrence.map { "\($0.rawValue)" } ?? "", kind == .remove ? "remove" : "deliver"]
    var send = ChannelSend(
        id: UUIDv5.make(namespace: UUIDv5.eventNamespace, pieces: pieces),
        key: try NotificationKey(application: "shop", recipient: "ana", identifier: name),
        kind: kind,
        channel: channel,
        requestID: try RequestID(text: name),
        occurrence: occurrence,
        attempt: attempt,
        sequence: OperationSequence(life: 0, offset: 41, time: ManualTime.start)
    )
    send.registration = try DeviceRegistration(platform: "apns", token: APNsBench.token)
    return send
}

/// Time that the test moves.
final class ManualTime: Sendable {
    private let nanoseconds = Mutex<Int64>(0)
    static let start = Timestamp(rawValue: 1_700_000_000_000)

    var now: Int64 { nanoseconds.withLock { $0 } }
    var wall: Timestamp { Self.start.adding(milliseconds: now / 1_000_000) }

    func advance(milliseconds: Int64) { nanoseconds.withLock { $0 += milliseconds * 1_000_000 } }
}

/// A webhook channel with what it reports to.
struct WebhookBench {
    static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let channel: WebhookChannel
    let desk: Desk
    let time = ManualTime()
    let health = Health()
    let registry = PrometheusRegistry()
    let log = CollectedLog()
    private let folder: TestFolder

    init(
        _ url: String,
        concurrency: Int = 100_000,
        jitter: Double = 0,
        longestRequest: Duration = .seconds(3600),
        resolver: any HostResolver = ScriptedResolver([["127.0.0.1"]]),
        trusting roots: NIOSSLTrustRoots = .default,
        origins: [String] = [],
        internalOrigins: [String] = [],
        connectionAge: Duration = .seconds(300),
        authoritiesFile: String = "",
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TestFolder()
        var (configuration, egress) = (WebhookConfiguration(), EgressConfiguration())
        configuration.url = url
        configuration.isInternal = true
        configuration.keysFile = try folder.write(Self.key)
        // A test that fails must not wait for long; no test depends on it.
        configuration.timeout = .seconds(120)
        configuration.connectTimeout = .seconds(60)
        change(&configuration)
        (egress.origins, egress.internalOrigins, egress.connectionAge) = (origins, internalOrigins, connectionAge)
        egress.authoritiesFile = authoritiesFile
        let (time, log) = (time, log)
        channel = try WebhookChannel(
            configuration,
            longestRequest: longestRequest,
            egress: egress,
            source: "/carillon/test",
            health: health,
            registry: registry,
            logger: log.logger,
            resolver: resolver,
            addressLifetime: .zero,
            trusting: roots,
            world: .init(now: { time.now }, wall: { time.wall }, jitter: { jitter })
        )
        desk = Desk(channel, concurrency: concurrency)
    }

    func metric(_ name: String) -> String? {
        registry.exposition().split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// Open connections.
    var connections: Int? { metric("carillon_webhook_connections").flatMap { Int($0) } }

    /// Waits until the channel has no connection.
    func waitUntilClosed() async throws {
        while connections != 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    func requests(_ kind: WebhookAnswer.Kind) -> String? {
        metric("carillon_webhook_requests_total{outcome=\"\(kind.rawValue)\"}")
    }
}

/// A resolver whose answers a test gives.
final class ScriptedResolver: HostResolver {
    private let answers: Mutex<[[String]]>
    private let asked = Mutex<[String]>([])

    /// - Parameter answers: one for each look-up; the last one for all further ones.
    init(_ answers: [[String]]) { self.answers = Mutex(answers) }

    /// The hosts of the look-ups.
    var hosts: [String] { asked.withLock { $0 } }

    func addresses(of host: String) async throws -> [IPAddress] {
        asked.withLock { $0.append(host) }
        let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
        return answer.compactMap { IPAddress(canonical: $0) }
    }
}

/// A folder that is deleted with its last reference.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("channels-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String) throws -> String {
        let file = "\(path)/file"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        return file
    }
}
