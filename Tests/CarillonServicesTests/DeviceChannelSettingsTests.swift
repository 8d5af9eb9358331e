import CarillonServices
import NotificationChannels
import NotificationConsumer
import NotificationModel
import ServiceSupport
import Testing

@Suite("Settings of the channels to devices")
struct DeviceChannelSettingsTests {
    @Test func `devices has the platforms whose applications are there, and needs one`() throws {
        #expect(ConsumerSettings.problems("channel: devices") == ["apns.applications.file"])
        let (apple, android) = ("apns: {applications: {file: a.yaml}}", "fcm: {applications: {file: b.yaml}}")
        #expect(try ConsumerSettings.read("channel: devices\n\(apple)").service.channels == [.devices, .apns])
        #expect(try ConsumerSettings.read("channel: devices\n\(android)").service.channels == [.devices, .fcm])
        #expect(
            try ConsumerSettings.read("channel: devices\n\(apple)\n\(android)").service.channels == [
                .devices, .apns, .fcm,
            ]
        )
        #expect(try ConsumerSettings.read(android).service.channels == [.events])
        let web = "webpush: {applications: {file: c.yaml}}"
        #expect(try ConsumerSettings.read("channel: devices\n\(web)").service.channels == [.devices, .webpush])
    }

    @Test func `a channel of a platform needs its applications`() throws {
        #expect(ConsumerSettings.problems("channel: apns") == ["apns.applications.file"])
        #expect(ConsumerSettings.problems("channels: [fcm]") == ["fcm.applications.file"])
        let fcm = try ConsumerSettings.read(
            "channel: fcm\nfcm: {applications: {file: b.yaml}, rate: 500, connections: 3}"
        ).fcm
        #expect(fcm.applicationsFile == "b.yaml" && fcm.rate == 500 && fcm.connections == 3)
        #expect(ConsumerSettings.problems("channel: webpush") == ["webpush.applications.file"])
        #expect(fcm.url == "https://fcm.googleapis.com" && !fcm.isInternal)
    }

    @Test func `a message has time for its turn and its answer before the lane gives it up`() {
        let lines = "channel: fcm\nfcm: {applications: {file: b.yaml}, timeout: 15s}"
        #expect(ConsumerSettings.problems(lines) == ["fcm.timeout"])
        #expect(ConsumerSettings.problems("\(lines)\nconsumer: {send: {timeout: 31s}}").isEmpty)
    }

    @Test func `push services inside the network are origins`() throws {
        let lines = "channel: webpush\nwebpush: {applications: {file: c.yaml}, internal-origins: "
        #expect(ConsumerSettings.problems("\(lines)[\"https://push.internal/x\"]}") == ["webpush.internal-origins"])
        let webPush = try ConsumerSettings.read("\(lines)[\"https://push.internal:8443\"], connections: 5}").webPush
        #expect(webPush.internalOrigins == ["https://push.internal:8443"] && webPush.connections == 5)
        #expect(ConsumerSettings.problems("\(lines)[], timeout: 30s}") == ["webpush.timeout"])
    }
}
