import APNsSimulator
import FCMSimulator
import Foundation
import NotificationDelivery
import ServiceSupport
import Testing

@testable import NotificationChannels

/// What channels need of the network, tried against simulators. No test depends on how long something takes.
@Suite("Probes of channels", .timeLimit(.minutes(10)))
struct ChannelProbeTests {
    private static func outcomes(_ channel: any ProbedChannel, within time: Duration = .seconds(60)) async -> [String] {
        var texts: [String] = []
        for probe in channel.probes { texts.append("\(probe.what): \(await probe.outcome(within: time))") }
        return texts
    }

    @Test func `APNs: the servers of each environment, and a token of each key; no push is sent`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            let texts = await Self.outcomes(bench.channel)
            let (production, development) = (bench.simulator.productionPort, bench.simulator.developmentPort)
            #expect(
                texts.sorted() == [
                    "a provider token of the key \(APNsSimulator.ownKeyID): reached(\"signed for the team \(APNsSimulator.ownTeam)\")",
                    "the servers of APNs, development: reached(\"127.0.0.1:\(development) answers over HTTP/2\")",
                    "the servers of APNs, production: reached(\"127.0.0.1:\(production) answers over HTTP/2\")",
                ]
            )
            #expect(bench.titles.isEmpty)
        }
    }

    @Test func `APNs: a server that is away is told with the reason`() async throws {
        let bench = try await APNsBench(onlyProduction: true)
        await bench.simulator.stop()
        let texts = await Self.outcomes(bench.channel, within: .milliseconds(500))
        #expect(texts.contains { $0.hasPrefix("the servers of APNs, production: unreachable(") }, "\(texts)")
        await bench.channel.close()
    }

    @Test func `FCM: the servers, and an access token for each project; no message is sent`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            let texts = await Self.outcomes(bench.channel)
            #expect(texts.count == 2)
            #expect(
                texts.contains("the servers of FCM: reached(\"127.0.0.1:\(bench.simulator.port) answers over HTTP/2\")")
            )
            #expect(
                texts.contains {
                    $0.hasPrefix("an access token for the project ") && $0.hasSuffix("reached(\"obtained\")")
                }
            )
            #expect(bench.titles.isEmpty)
        }
    }

    @Test func `FCM: an account that gets no token is refused, with what to do`() async throws {
        try await FCMBench.with(ahead: 3 * 3_600_000) { bench in
            let texts = await Self.outcomes(bench.channel)
            #expect(texts.contains { $0.contains("refused(\"clock-skew: the clock of this machine is") }, "\(texts)")
        }
    }

    @Test func `the webhook: any answer will do, and nothing is posted`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(405) }
        let bench = try WebhookBench(endpoint.url)
        #expect(
            await Self.outcomes(bench.channel)
                == ["the endpoint of the webhook: reached(\"127.0.0.1:\(endpoint.port) answers\")"]
        )
        #expect(endpoint.requests.map(\.method) == ["OPTIONS"])
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `the webhook: an endpoint that is away, and an address that is not allowed`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let url = endpoint.url
        try await endpoint.stop()
        let away = try WebhookBench(url)
        #expect(await Self.outcomes(away.channel).first?.contains("unreachable(\"127.0.0.1") == true)
        await away.channel.close()
        let inside = try WebhookBench("https://example.com/", resolver: ScriptedResolver([["10.0.0.1"]])) {
            $0.isInternal = false
        }
        let texts = await Self.outcomes(inside.channel)
        #expect(texts.first?.contains("10.0.0.1") == true && texts.first?.contains("unreachable") == true, "\(texts)")
        await inside.channel.close()
    }
}
