import APNsSimulator
import NIOSSL
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationChannels
@testable import OutboundHTTP

/// What the pools of many keys share.
struct APNsPoolsTests {
    @Test func `all keys share one TLS context, and both environments of a certificate another`() async throws {
        try await APNsBench.with { bench in
            let made = try await bench.simulator.makeCertificate(for: "com.example.bank")
            let folders = (try TestFolder(), try TestFolder())
            let certificate = try folders.0.write(String(decoding: made.certificate + made.key, as: UTF8.self))
            let key = try #require(bench.simulator.keyFile)
            let file = try folders.1.write(
                """
                shop: {bundles: com.example.shop, team: SIMULATEAM, key: CARILLON01, key-file: \(key)}
                club: {bundles: com.example.club, team: OTHERTEAM1, key: CARILLON02, key-file: \(key)}
                bank: {bundles: com.example.bank, certificate: \(certificate), certificate-key: \(certificate)}
                """
            )
            let metrics = PushMetrics(.apns, of: "APNs", devices: "Apple", reasons: [], PrometheusRegistry())
            let pools = try APNsPools(APNsConfiguration(), EgressConfiguration(), observer: metrics)
            var senders = APNsSenders()
            try withExtendedLifetime(folders) {
                _ = try senders.use(try APNsApplicationsFile.load(path: file), pools.sender)
            }
            #expect(senders.all.count == 6)
            #expect(Set(senders.all.map { ObjectIdentifier($0.tls.context) }).count == 2)
        }
    }
}
