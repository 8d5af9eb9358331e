import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("PUT and DELETE of a device")
struct DeviceCallTests {
    private static let path = "/v1/recipients/ana%2F1/devices/phone%2F2"
    private static let json = ("content-type", "application/json")
    private static let token = String(repeating: "AB", count: 32)

    @Test("A registration is on devices, normalised, in the recipient's partition; a removal is a null value")
    func putAndDelete() async throws {
        let body =
            #"{"platform":"apns","token":"<\#(Self.token)>","timeZone":"Asia/Shanghai","settings":{"sound":"disabled"}}"#
        try await ProducerHarness.with { harness in
            let answer = try await harness.http.send(
                "PUT",
                Self.path,
                headers: [Self.json, ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")],
                body: Array(body.utf8)
            )
            #expect(answer.status == 202, "\(answer.text)")
            let removal = try await harness.http.send("DELETE", Self.path + "?application=bank")
            #expect(removal.status == 202, "\(removal.text)")
            let records = try await harness.records(ProducerHarness.topics.devices, count: 2)
            let put = try #require(records.first { $0.keyText == "shop/ana%2F1/phone%2F2" })
            #expect(answer["topic"] == ProducerHarness.topics.devices && answer["offset"] == "\(put.offset)")
            let partition = KafkaPartitioner.partition(forKey: Array("ana/1".utf8), count: 3)
            #expect(records.map(\.partition) == [partition, partition])
            #expect(put.header("traceparent")?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
            let device = try DeviceRegistration(json: try #require(put.value))
            #expect(device.token == Self.token.lowercased() && device.timeZone == "Asia/Shanghai")
            #expect(device.settings[.sound] == .disabled && device.authorizationStatus == .authorized)
            // The service's clock, since the app did not say.
            #expect(device.registeredAt == ProducerHarness.now)
            let gone = try #require(records.first { $0.keyText == "bank/ana%2F1/phone%2F2" })
            #expect(gone.value == nil)
        }
    }

    @Test("A registration keeps the app's own time")
    func registeredAt() async throws {
        let at = ProducerHarness.now.adding(milliseconds: -86_400_000)
        try await ProducerHarness.with { harness in
            let answer = try await harness.http.send(
                "PUT",
                Self.path,
                headers: [Self.json],
                body: Array(#"{"platform":"fcm","token":"t","registeredAt":"\#(at.rfc3339)"}"#.utf8)
            )
            #expect(answer.status == 202, "\(answer.text)")
            let record = try #require(try await harness.records(ProducerHarness.topics.devices, count: 1).first)
            #expect(try DeviceRegistration(json: try #require(record.value)).registeredAt == at)
        }
    }

    @Test("An invalid registration is refused with reason and field, without its token, and nothing is published")
    func invalid() async throws {
        func with(_ member: String) -> String { #"{"platform":"apns","token":"\#(Self.token)",\#(member)}"# }
        let future = ProducerHarness.now.adding(milliseconds: 300_001).rfc3339
        let cases: [(body: String, status: Int, reason: String, field: String?)] = [
            (#"{"platform":"apns","token":"\#(Self.token)a"}"#, 400, "invalid", "token"),
            (#"{"platform":"apns","token":"xyz-secret"}"#, 400, "invalid", "token"),
            (#"{"platform":"apns","token":"abab"}"#, 400, "invalid", "token"),
            (#"{"platform":"fcm","token":""}"#, 400, "invalid", "token"),
            (#"{"platform":"fcm","token":"a\u0000secret"}"#, 400, "invalid", "token"),
            (#"{"platform":"fcm","token":"\#(String(repeating: "t", count: 4_097))"}"#, 400, "invalid", "token"),
            (#"{"token":"t"}"#, 400, "invalid", "platform"), (#"{"platform":"fcm"}"#, 400, "invalid", "token"),
            (with(#""timeZone":"Asia/Nowhere""#), 400, "invalid", "timeZone"),
            (with(#""timeZone":"../../etc/passwd""#), 400, "invalid", "timeZone"),
            (with(#""locale":"zh Hans""#), 400, "invalid", "locale"),
            (with(#""environment":"sandbox""#), 400, "invalid", "environment"),
            (with(#""authorizationStatus":"yes""#), 400, "invalid", "authorizationStatus"),
            (with(#""settings":{"sound":"loud"}"#), 400, "invalid", "settings.sound"),
            (with(#""settings":{"alertStyle":"modal"}"#), 400, "invalid", "settings.alertStyle"),
            (with(#""settings":{"showPreviews":"enabled"}"#), 400, "invalid", "settings.showPreviews"),
            (
                with(#""settings":{"providesAppNotificationSettings":1}"#), 400, "invalid",
                "settings.providesAppNotificationSettings"
            ), (with(#""settings":{"haptic":"enabled"}"#), 400, "unknown-field", "settings.haptic"),
            (with(#""registeredAt":"\#(future)""#), 400, "in-future", "registeredAt"),
            (with(#""application":"shop""#), 400, "unknown-field", "application"),
            (with(#""appVersion":"\#(String(repeating: "x", count: 20_000))""#), 413, "too-large", nil),
            ("[]", 400, "invalid", nil),
        ]
        try await ProducerHarness.with { harness in
            for entry in cases {
                let answer = try await harness.http.send(
                    "PUT",
                    Self.path,
                    headers: [Self.json],
                    body: Array(entry.body.utf8)
                )
                #expect(answer.status == entry.status && answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                if let field = entry.field { #expect(answer["field"] == field, "\(answer.text)") }
                #expect(!answer.text.contains("secret") && !answer.text.contains(Self.token))
            }
            let text = try await harness.http.send("PUT", Self.path, headers: [("content-type", "text/plain")])
            #expect(text.status == 415)
            #expect(try await harness.http.send("POST", Self.path, headers: [Self.json]).status == 405)
            for path in ["/v1/recipients/ana/devices/", "/v1/recipients/ana/devices/a%00"] {
                let answer = try await harness.http.send("DELETE", path)
                #expect(answer.status == 400 && answer["field"] == "device", "\(answer.text)")
            }
            let last = try await harness.http.send("DELETE", Self.path)
            #expect(last.status == 202 && last["offset"] == "0", "\(last.text)")
        }
    }
}
