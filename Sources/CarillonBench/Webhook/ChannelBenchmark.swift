import Dispatch
import Foundation
import NotificationChannels
import NotificationConsumer
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// The channel with its default settings, given sends as by a lane of the consumer service.
struct ChannelBenchmark {
    struct Result {
        var perSecond: Double
        /// User and system time of this process, which does nothing else.
        var cpuSecondsPerMillion: Double
    }

    var sends: Int
    var workbench: Workbench

    private static let patience = Duration.seconds(60)

    /// Sends waiting notifications, and checks that each arrived once.
    ///
    /// - Returns: the sends in a second, from the begin of the first to the answer of the last.
    func run(_ nginx: Nginx) throws -> Result {
        let channel = try makeChannel(url: nginx.url)
        defer { close(channel) }
        let before = try nginx.requests()
        let isWoken = DispatchSemaphore(value: 0)
        var work = ChannelSends([channel]) { channel in
            SideWork(
                concurrency: min(LaneConfiguration().concurrentSends, channel.concurrency ?? .max),
                bound: sends,
                mailbox: SideWorkMailbox(wake: { isWoken.signal() }, onLate: {})
            )
        }
        let waiting = try (0..<sends).map(send)
        var (left, accepted) = (sends, 0)
        let cpu = try ProcessSample.own().cpuSeconds
        let time = try ContinuousClock().measure {
            for send in waiting {
                work.add(send, within: Self.patience, at: .now, SystemClock.now)
            }
            while left > 0 {
                guard isWoken.wait(timeout: .now() + (Self.patience / .seconds(1))) == .success else {
                    throw BenchmarkError("no answer within \(Self.patience); \(left) sends are left")
                }
                for (_, result, _) in work.take(at: .now) {
                    left -= 1
                    if result == .accepted { accepted += 1 }
                }
                work.beginWaiting(at: .now, SystemClock.now)
            }
        }
        let used = try ProcessSample.own().cpuSeconds - cpu
        guard accepted == sends else { throw BenchmarkError("\(sends - accepted) of \(sends) sends failed") }
        // The request for the number is one of them.
        let arrived = try nginx.requests() - before - 1
        guard arrived == sends else { throw BenchmarkError("\(arrived) requests arrived of \(sends) sends") }
        return Result(
            perSecond: Double(sends) / (time / .seconds(1)),
            cpuSecondsPerMillion: used / Double(sends) * 1e6
        )
    }

    /// A file with a signing key.
    static func writeKeys(on workbench: Workbench) throws -> String {
        let keys = workbench.place("keys")
        try Data("whsec_\(Data(repeating: 7, count: 32).base64EncodedString())\n".utf8).write(to: keys)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys.path)
        return keys.path
    }

    private func makeChannel(url: String) throws -> WebhookChannel {
        var webhook = WebhookConfiguration()
        webhook.url = url
        webhook.isInternal = true
        webhook.keysFile = try Self.writeKeys(on: workbench)
        return try WebhookChannel(
            webhook,
            longestRequest: .milliseconds(RetryPolicy().longestRequest),
            egress: EgressConfiguration(),
            source: "/carillon/bench",
            health: Health(),
            registry: PrometheusRegistry(),
            logger: workbench.logger
        )
    }

    private func close(_ channel: WebhookChannel) {
        let isClosed = DispatchSemaphore(value: 0)
        Task.detached {
            await channel.close()
            isClosed.signal()
        }
        isClosed.wait()
    }

    /// With the content of the requests of the other benchmarks.
    private func send(_ number: Int) throws -> Issued<ChannelSend> {
        let digits = Pattern.digits(number, 8)
        let content = """
            {"title":"Your order is on its way","subtitle":"Order \(digits)",\
            "body":"The parcel \\"\(digits)\\" has left our warehouse and will be with you soon.","badge":3,\
            "sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"orders",\
            "interruptionLevel":"active","relevanceScore":0.5,\
            "userInfo":{"orderId":"\(digits)","items":[1,2,3],"customer":{"tier":"gold"}}}
            """
        let id = try RequestID(text: "00000000-0000-5000-8000-\(Pattern.digits(number, 12))")
        let send = ChannelSend(
            id: UUIDValue(high: 0, low: UInt64(number)),
            key: try NotificationKey(application: "shop", recipient: "user-\(digits)", identifier: "order-\(digits)"),
            kind: .deliver(content: Array(content.utf8)[...]),
            channel: .webhook,
            requestID: id
        )
        return Issued(send, of: 0, in: 1)
    }
}

extension Wrk {
    /// wrk with the header fields of the channel and bodies as long as its own: it learns the length from one send.
    static func posts(seconds: Int, connections: Int, workbench: Workbench) throws -> Wrk {
        func make(_ bytes: Int) throws -> Wrk {
            try Wrk(
                script: "posts.lua",
                arguments: ["\(bytes)"],
                seconds: seconds,
                connections: connections,
                workbench: workbench
            )
        }
        _ = try make(1)
        let nginx = try Nginx(.logging, on: workbench)
        defer { nginx.stop() }
        _ = try ChannelBenchmark(sends: 1, workbench: workbench).run(nginx)
        guard let wanted = try nginx.log().last?.length else { throw BenchmarkError("nginx has no line of the send") }
        let wrk = try make(wanted)
        try wrk.warmUp(port: nginx.port, alive: nginx.process)
        guard let last = try nginx.log().last?.length, last == wanted else {
            throw BenchmarkError("the bodies of wrk do not have the \(wanted) bytes of those of the channel")
        }
        return wrk
    }
}
