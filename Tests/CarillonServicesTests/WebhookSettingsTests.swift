import CarillonServices
import NotificationChannels
import NotificationConsumer
import NotificationModel
import ServiceSupport
import Testing

@Suite("Settings of the webhook channel")
struct WebhookSettingsTests {
    @Test func `the channel needs a URL and a file of keys`() throws {
        #expect(ConsumerSettings.problems("channel: webhook") == ["webhook.url", "webhook.keys.file"])
        #expect(ConsumerSettings.problems("channel: events") == [])
        #expect(ConsumerSettings.problems("channels: [webhook]") == ["webhook.url", "webhook.keys.file"])
        #expect(ConsumerSettings.problems("channels: [pigeon, events]") == ["channels"])
        let several = try ConsumerSettings.read("channels: [test]").service
        #expect(several.channel == .events && several.channels == [.events, .test])
        let webhook = try ConsumerSettings.read(
            """
            channel: webhook
            webhook: {url: "https://hooks.example.com/in?tenant=1", keys: {file: /run/keys}, connections: 3}
            """
        ).webhook
        #expect(webhook.url == "https://hooks.example.com/in?tenant=1" && webhook.keysFile == "/run/keys")
        #expect(webhook.connections == 3 && webhook.timeout == .seconds(15))
    }

    @Test(arguments: [
        "ftp://a.example/", "hooks.example.com", "/path", "https://", "https:///x", "https://user:secret@a.example/",
        "https://user@a.example/", "https://a.example/#part", "https://a.example/ä", "https://a.example/ x",
        "https://a.example:0/", "https://a.example:99999/", "http://a.example/", "http://127.0.0.1.example/",
        "http://10.0.0.1/", "http://localhost.example/", "mailto:a@b", "https://hooks.example.com/%zz",
    ])
    func `a bad URL is refused, and not shown`(_ url: String) throws {
        let lines = "channel: webhook\nwebhook: {url: \"\(url)\", keys: {file: /run/keys}}"
        let error = #expect(throws: ServiceSettingsError.self) { try ConsumerSettings.read(lines) }
        #expect(error?.problems.map(\.key) == ["webhook.url"])
        #expect(error?.description.contains("secret") == false && error?.description.contains(url) == false)
    }

    @Test(arguments: [
        "http://localhost:8080/", "http://127.0.0.1/", "http://127.9.9.9:1/", "http://[::1]:8080/x",
        "https://a.example", "HTTPS://A.example:8443/x?y=z%20", "https://10.0.0.1/",
    ])
    func `inside the network https goes everywhere, and http to this machine`(_ url: String) {
        #expect(
            ConsumerSettings.problems(
                "channel: webhook\nwebhook: {url: \"\(url)\", keys: {file: /run/keys}, internal: true}"
            ) == []
        )
    }

    @Test func `http to another machine needs a permission`() {
        let lines = "channel: webhook\nwebhook: {url: \"http://a.com/\", keys: {file: /run/keys}, internal: true"
        #expect(ConsumerSettings.problems(lines + "}") == ["webhook.url"])
        #expect(ConsumerSettings.problems(lines + ", plain-http: true}") == [])
    }

    @Test(arguments: [
        ("http://localhost:8080/", "webhook.internal: true"), ("http://127.0.0.1/", "webhook.internal: true"),
        ("https://10.0.0.1/", "webhook.internal: true"), ("https://[::1]/", "webhook.internal: true"),
        ("https://hooks.internal/", "webhook.internal: true"), ("https://gateway/", "webhook.internal: true"),
        ("https://a.com:8443/", "egress.origins"), ("https://2130706433/", "address"),
    ])
    func `a URL that is not public is refused, and the message says what to do`(_ url: String, remedy: String) {
        let lines = "channel: webhook\nwebhook: {url: \"\(url)\", keys: {file: /run/keys}}"
        let error = #expect(throws: ServiceSettingsError.self) { try ConsumerSettings.read(lines) }
        #expect(error?.problems.map(\.key) == ["webhook.url"])
        #expect(error?.description.contains(remedy) == true, "\(String(describing: error))")
        #expect(error?.description.contains("internal-origins") == false, "that list is for media")
    }

    @Test(arguments: [
        ("https://hooks.example.com/in?a=b", ""), ("https://93.184.215.14/", ""),
        ("https://a.com:8443/", "origins: [\"https://a.com:8443\"]"),
    ])
    func `public URLs are allowed, and others by their origin`(_ url: String, egress: String) {
        let lines = "channel: webhook\nwebhook: {url: \"\(url)\", keys: {file: /run/keys}}\negress: {\(egress)}"
        #expect(ConsumerSettings.problems(lines) == [])
    }

    @Test func `an internal origin of media is none of the webhook's, and internal URLs must be canonical`() {
        let lines = "channel: webhook\nwebhook: {url: \"https://gateway:8443/\", keys: {file: /run/keys}"
        #expect(
            ConsumerSettings.problems(lines + "}\negress: {internal-origins: [\"https://gateway:8443\"]}") == [
                "webhook.url"
            ]
        )
        let other = lines.replacing("gateway:8443", with: "2130706433")
        #expect(ConsumerSettings.problems(other + ", internal: true}") == ["webhook.url"])
    }

    @Test func `the URL of a channel that the service does not have is not judged`() {
        #expect(ConsumerSettings.problems("webhook: {url: \"https://10.0.0.1/\"}") == [])
    }

    @Test func `the time-out of a request is less than that of a send`() {
        let lines = "channel: webhook\nwebhook: {url: \"https://a.com/\", keys: {file: /run/keys}, timeout: 30s}"
        #expect(ConsumerSettings.problems(lines) == ["webhook.timeout"])
        #expect(ConsumerSettings.problems(lines + "\nconsumer: {send: {timeout: 31s}}") == [])
        #expect(ConsumerSettings.problems("webhook: {timeout: 30s}") == [], "it has no effect for another channel")
    }
}
