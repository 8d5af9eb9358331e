import ArgumentParser
import Foundation
import NotificationModel
import Testing

@testable import carillon

@Suite("Devices from the command line")
struct DeviceCommandTests {
    private static let token = String(repeating: "AB", count: 32)

    private func command<Command: ParsableCommand>(_ type: Command.Type, _ arguments: [String]) throws -> Command {
        try #require(try Carillon.understood(["device"] + arguments) as? Command)
    }

    @Test func `a registration is put to the recipient's device, with the application in the query`() async throws {
        let add = try command(
            DeviceAddCommand.self,
            [
                "add", "--recipient", "ana/1", "--device", "my phone", "--application", "shop", "--platform", "apns",
                "--token", "<\(Self.token)>", "--status", "provisional", "--time-zone", "Asia/Shanghai", "--setting",
                "sound=disabled", "--environment", "development",
            ]
        )
        let target = "/v1/recipients/ana%2F1/devices/my%20phone?application=shop"
        let server = try LoopbackServer([target: LoopbackServer.answer(202, body: Array(#"{"topic":"t"}"#.utf8))])
        let client = try ServiceOptions.parse(["--url", server.origin]).client(environment: [:])
        let answer = try await add.options.call(client, "PUT", body: try add.registration().json)
        #expect(String(decoding: answer, as: UTF8.self) == #"{"topic":"t"}"#)
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("PUT \(target) HTTP/1.1\r\n"))
        #expect(
            request.hasSuffix(
                #"{"platform":"apns","token":"\#(Self.token.lowercased())","environment":"development","#
                    + #""timeZone":"Asia/Shanghai","authorizationStatus":"provisional","settings":{"sound":"disabled"}}"#
            )
        )
    }

    @Test func `every setting of a device can be given`() throws {
        let settings = [
            "alert=enabled", "directMessages=notSupported", "alertStyle=none", "showPreviews=whenAuthenticated",
            "providesAppNotificationSettings=true",
        ]
        let base = ["add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t"]
        let add = try command(DeviceAddCommand.self, base + settings.flatMap { ["--setting", $0] })
        let json = String(decoding: try add.registration().json, as: UTF8.self)
        #expect(
            json.contains(
                #""settings":{"alert":"enabled","directMessages":"notSupported","alertStyle":"none","#
                    + #""showPreviews":"whenAuthenticated","providesAppNotificationSettings":true}"#
            ),
            "\(json)"
        )
    }

    @Test func `the tokens of Live Activities are registered with what they are for`() throws {
        let base = ["add", "--recipient", "a", "--device", "d", "--platform", "apns", "--token"]
        func json(_ token: String, _ options: [String]) throws -> String {
            let add = try command(DeviceAddCommand.self, base + [token] + options)
            return String(decoding: try add.registration().json, as: UTF8.self)
        }
        let token = String(repeating: "ab", count: 32)
        let start = try json(token, ["--kind", "liveActivityStart", "--attributes-type", "Order"])
        #expect(start.contains(#""kind":"liveActivityStart","attributesType":"Order""#), "\(start)")
        let one = ["--kind", "liveActivity", "--activity", "order-1", "--push-to-start", "phone-orders"]
        #expect(try json(token, one).contains(#""activity":"order-1","pushToStart":"phone-orders""#))
        #expect(try json("dHN0LWNobmw=", ["--kind", "broadcastChannel"]).contains(#""token":"dHN0LWNobmw=""#))
        let refused = try #require(refusal(["device"] + base + [token, "--attributes-type", "Order"]))
        #expect(refused.status == 64 && refused.message.contains("attributesType"), "\(refused.message)")
    }

    @Test(arguments: TokenKind.allCases.filter { $0 != .device })
    func `platforms other than Apple's have no other kinds of tokens`(_ kind: TokenKind) throws {
        let base = ["device", "add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t"]
        let refused = try #require(refusal(base + ["--kind", kind.rawValue]))
        let why = "at platform: must be apns: only Apple has the kind \(kind.rawValue)"
        #expect(refused.status == 64 && refused.message.contains(why), "\(refused.message)")
    }

    @Test(arguments: [
        ("sound=off", #""off" is no value of sound; its values: notSupported, disabled, enabled"#),
        ("alertStyle=enabled", "its values: none, banner, alert"), ("sond=disabled", "did you mean sound?"),
        ("providesAppNotificationSettings=yes", "its values: true, false"), ("sound", "must be name=value"),
        ("volume=1", "the settings: alert, sound, badge"),
    ])
    func `a wrong setting is told with those that there are`(_ setting: String, _ said: String) throws {
        let base = ["device", "add", "--recipient", "a", "--device", "d", "--platform", "fcm", "--token", "t"]
        let refused = try #require(refusal(base + ["--setting", setting]))
        #expect(refused.status == 64 && refused.message.contains(said), "\(refused.message)")
    }

    @Test func `a removal is a DELETE without a body`() async throws {
        let remove = try command(DeviceRemoveCommand.self, ["remove", "--recipient", "ana", "--device", "phone"])
        let server = try LoopbackServer(["/v1/recipients/ana/devices/phone": LoopbackServer.answer(202)])
        let client = try ServiceOptions.parse(["--url", server.origin]).client(environment: [:])
        #expect(try await remove.options.call(client, "DELETE").isEmpty)
        let request = try #require(server.requests.first)
        #expect(
            request.hasPrefix("DELETE /v1/recipients/ana/devices/phone HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\n")
        )
    }

    @Test func `devices are listed in a line each, without tokens and with what restricts them`() throws {
        let answer = #"""
            {"devices":[{"device":"iphone-1","platform":"apns","token":"secret","environment":"production",
              "timeZone":"Asia/Shanghai","authorizationStatus":"authorized",
              "settings":{"alert":"enabled","sound":"disabled","alertStyle":"banner","showPreviews":"never",
              "providesAppNotificationSettings":false},"badge":3,"registeredAt":"2026-11-21T08:00:00.000Z"},
             {"device":"web","platform":"webpush","token":"secret","authorizationStatus":"denied",
              "settings":{"badge":"notSupported","alertStyle":"none"},
              "retiredAt":"2026-11-22T08:00:00.000Z"}]}
            """#
        let lines = try DeviceListCommand.devices(in: Array(answer.utf8)).map(DeviceListCommand.line)
        #expect(
            lines == [
                "iphone-1  apns  production  authorized  without sound  badge 3  Asia/Shanghai  "
                    + "registered 2026-11-21T08:00:00.000Z",
                "web  webpush  denied  without badge, banner  retired 2026-11-22T08:00:00.000Z",
            ]
        )
        #expect(throws: CommandFailure.self) { try DeviceListCommand.devices(in: Array("{}".utf8)) }
    }

    @Test func `queries have an address of their own`() throws {
        func address(_ arguments: [String], _ variables: [String: String] = [:]) throws -> String? {
            try ServiceOptions.parse(arguments).client(queries: true, environment: variables).base.string
        }
        let variables = ["CARILLON_HTTP_URL": "http://a:1", "CARILLON_QUERIES_URL": "http://b:2"]
        #expect(try address([]) == "http://127.0.0.1:8083")
        #expect(try address([], variables) == "http://b:2")
        #expect(try address(["--url", "http://c:3"], variables) == "http://c:3")
    }
}
