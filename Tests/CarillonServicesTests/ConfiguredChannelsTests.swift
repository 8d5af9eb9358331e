import CarillonServices
import HTTPTesting
import Logging
import NotificationConsumer
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationChannels

@Suite("The channels of the settings")
struct ConfiguredChannelsTests {
    @Test func `the settings name the channels`() throws {
        var settings = ConsumerSettings(bootstrapServers: [])
        #expect(try channels(settings) == [])
        settings.service.channel = .test
        #expect(try channels(settings) == [.test])
        settings.service.channel = .webhook
        settings.webhook.url = "https://hooks.example.com/"
        #expect(throws: WebhookSettingsError.self) { try channels(settings) }
        let files = try TestFiles()
        defer { files.remove() }
        settings.webhook.keysFile = try files.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "keys")
        #expect(try channels(settings) == [.webhook])
        settings.service.channel = .events
        #expect(try channels(settings) == [])
        settings.service.furtherChannels = [.webhook, .test, .events]
        #expect(try channels(settings) == [.test, .webhook])
    }

    private func channels(_ settings: ConsumerSettings) throws -> [ChannelName] {
        try settings.makeChannels(
            health: Health(),
            registry: PrometheusRegistry(),
            logger: Logger(label: "test")
        ).map(\.name)
    }
}
