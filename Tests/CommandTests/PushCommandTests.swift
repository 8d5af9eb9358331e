import Foundation
import HTTPTesting
import NotificationChannels
import NotificationModel
import OutboundHTTP
import Testing

@testable import carillon

@Suite("One push from the command line")
struct PushCommandTests {
    private static let token = String(repeating: "0a", count: 32)
    private static let bundle = ["--bundle-identifier", "com.example.shop"]
    private static let now = Timestamp(rawValue: 1_795_251_600_000)
    private static let id = UUIDValue(high: 0x0D8F_4E6C_0000_4000, low: 0x8000_0000_0000_0001)

    private func command(_ arguments: [String], token: String = Self.token) throws -> PushCommand {
        try #require(try Carillon.understood(["push", token, "--dry-run"] + arguments) as? PushCommand)
    }

    private func plan(_ arguments: [String], token: String = Self.token) throws -> PushPlan {
        try command(arguments, token: token).plan(nil, hasCertificate: false, id: Self.id, at: Self.now)
    }

    private func payload(_ plan: PushPlan) -> String { String(decoding: plan.push.payload, as: UTF8.self) }

    @Test(arguments: [
        "<0a0a0a0a 0a0a0a0a 0a0a0a0a 0a0a0a0a 0a0a0a0a 0a0a0a0a 0a0a0a0a 0a0a0a0a>", String(repeating: "0A", count: 32),
        " 0a " + String(repeating: "0a", count: 31),
    ])
    func `tokens are taken as old programs show them`(_ token: String) throws {
        #expect(try plan(Self.bundle + ["--title", "T"], token: token).token == Self.token)
    }

    @Test func `every option of a content is in the payload`() throws {
        let plan = try plan(
            Self.bundle + [
                "--title", "T", "--subtitle", "S", "--body-key", "B", "--body-argument", "1", "--body-argument=-2",
                "--badge", "3", "--sound", "a.caf", "--critical", "--volume", "0.5", "--category", "C", "--thread", "D",
                "--interruption-level", "critical", "--relevance-score", "0.5", "--launch-image", "L",
                "--target-content", "X", "--filter-criteria", "F", "--mutable-content", "--user-info", "a=b",
                "--user-info", #"{"c":[1]}"#,
            ]
        )
        #expect(
            payload(plan)
                == #"{"aps":{"alert":{"title":"T","subtitle":"S","loc-key":"B","loc-args":["1","-2"],"launch-image":"L"},"#
                + #""badge":3,"sound":{"critical":1,"name":"a.caf","volume":0.5},"interruption-level":"critical","#
                + #""thread-id":"D","category":"C","target-content-id":"X","filter-criteria":"F","relevance-score":0.5,"#
                + #""mutable-content":1},"a":"b","c":[1]}"#
        )
        #expect(plan.problems.isEmpty && !plan.isRefused)
        #expect(plan.push.headers.pushType == .alert && plan.push.headers.topic == "com.example.shop")
        #expect(plan.push.headers.id == Self.id && plan.push.headers.collapseID == nil)
    }

    @Test func `every header can be given`() throws {
        let plan = try plan(
            Self.bundle + [
                "--title", "T", "--push-type", "voip", "--priority", "5", "--expiration", "15m", "--collapse-id", "c",
                "--id", "0D8F4E6C-0000-4000-8000-00000000000F",
            ]
        )
        #expect(
            plan.push.headers.fields.map { "\($0.name): \($0.value)" } == [
                "apns-topic: com.example.shop.voip", "apns-push-type: voip", "apns-priority: 5",
                "apns-id: 0d8f4e6c-0000-4000-8000-00000000000f", "apns-expiration: 1795252500", "apns-collapse-id: c",
            ]
        )
        #expect(try self.plan(Self.bundle + ["--title", "T", "--expiration", "0"]).push.headers.expiration == 0)
        let instant = ["--title", "T", "--expiration", "2026-11-21T09:00:01Z"]
        #expect(try self.plan(Self.bundle + instant).push.headers.expiration == 1_795_251_601)
        let topic = try self.plan(["--title", "T", "--topic", "com.example.other"])
        #expect(topic.push.headers.topic == "com.example.other" && topic.problems.isEmpty)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"A"}}"#, APNsPushType.alert), (#"{"aps":{"content-available":1},"a":1}"#, .background),
        (#"{"aps":{"badge":1,"content-available":1}}"#, .alert), (#"{"mdm":"m"}"#, .mdm),
        (#"{"aps":{"event":"end","timestamp":1}}"#, .liveactivity),
    ])
    func `an existing payload is sent as it is, as the type that it says`(_ json: String, _ type: APNsPushType) throws {
        let file = try TemporaryFile(json)
        let plan = try plan(Self.bundle + ["--payload", file.path])
        #expect(payload(plan) == json && plan.push.headers.pushType == type && plan.problems.isEmpty)
    }

    @Test func `of an existing payload it is shown what a content says, and what none can say`() throws {
        let file = try TemporaryFile(#"{"aps":{"alert":{"body":"B","action-loc-key":"PLAY"}},"x":1}"#)
        let plan = try plan(Self.bundle + ["--payload", file.path])
        let text = PushReport.findings(plan)
        #expect(text.contains(#"as content: {"body":"B","userInfo":{"x":1}}"#), "\(text)")
        #expect(text.contains("no content says: aps.alert.action-loc-key"))
        #expect(text.contains("ineffective: aps.alert.action-loc-key"))
        let json = try JSONValue.parse(PushReport.json(plan, to: "https://a.b", nil))
        #expect(json["content"]?["body"] == .string("B") && json["unsaid"]?[0] == .string("aps.alert.action-loc-key"))
    }

    @Test func `a payload whose type nobody says, or that is none, is refused`() throws {
        let widgets = try TemporaryFile(#"{"aps":{"content-changed":true}}"#)
        #expect(throws: CommandFailure.self) { try self.plan(Self.bundle + ["--payload", widgets.path]) }
        let plan = try plan(Self.bundle + ["--payload", widgets.path, "--push-type", "controls"])
        #expect(plan.problems.isEmpty && plan.push.headers.topic == "com.example.shop.push-type.controls")
        let large = try TemporaryFile(String(repeating: "x", count: 65_537))
        #expect(throws: CommandFailure.self) {
            try self.plan(Self.bundle + ["--payload", large.path, "--push-type", "alert"])
        }
        #expect(throws: CommandFailure.self) { try self.plan(Self.bundle + ["--payload", "/nowhere"]) }
    }

    @Test func `a content of a request is taken, and what is none is told with its field`() throws {
        let file = try TemporaryFile(#"{ "title": "T", "badge": 2, "attachments": [] }"#)
        #expect(
            try payload(plan(Self.bundle + ["--content", file.path]))
                == #"{"aps":{"alert":{"title":"T"},"badge":2},"carillon":{"attachments":[]}}"#
        )
        let wrong = try TemporaryFile(#"{"titel":"T"}"#)
        let failure = #expect(throws: CommandFailure.self) { try plan(Self.bundle + ["--content", wrong.path]) }
        #expect(failure?.description.contains("titel") == true && failure?.status == 65)
        #expect(throws: CommandFailure.self) { try plan(Self.bundle) }
    }

    @Test func `what is too large follows the policy`() throws {
        let body = ["--body", String(repeating: "é", count: 3000)]
        let cut = try plan(Self.bundle + body)
        #expect(cut.push.payload.count <= 4096 && PushReport.findings(cut).contains("changed: body-shortened"))
        #expect(throws: CommandFailure.self) { try plan(Self.bundle + body + ["--too-large", "refuse"]) }
        #expect(throws: CommandFailure.self) { try plan(Self.bundle + body + ["--too-large", "drop-media"]) }
    }

    @Test func `a Live Activity has its dates in seconds and its alert from the texts`() throws {
        let start = try plan(
            Self.bundle + [
                "--event", "start", "--content-state", #"{"a":1}"#, "--attributes-type", "Match", "--attributes", "{}",
                "--title", "T", "--body-key", "B", "--sound", "s", "--stale-date", "10m", "--input-push-token",
                "--relevance-score", "75",
            ]
        )
        #expect(
            payload(start)
                == #"{"aps":{"timestamp":1795251600,"event":"start","content-state":{"a":1},"#
                + #""alert":{"title":"T","body":{"loc-key":"B"},"sound":"s"},"stale-date":1795252200,"#
                + #""relevance-score":75,"attributes-type":"Match","attributes":{},"input-push-token":1}}"#
        )
        #expect(start.problems.isEmpty && start.push.headers.topic == "com.example.shop.push-type.liveactivity")
        let end = try plan(Self.bundle + ["--event", "end", "--timestamp", "7", "--dismissal-date", "0"])
        #expect(payload(end) == #"{"aps":{"timestamp":7,"event":"end","dismissal-date":1795251600}}"#)
    }

    @Test(arguments: [
        (["--title", "T"], "--bundle-identifier or --topic"),
        (["--event", "update", "--payload", "f"], "--event is in the place of"),
        (["--content", "f", "--payload", "f"], "exclude each other"),
        (["--content", "f", "--title", "T"], "in the place of"),
        (["--title-argument", "a"], "needs --title-key"), (["--volume", "0.5"], "needs --critical"),
        (["--timestamp", "1"], "needs --event"), (["--event", "update", "--attributes", "{}"], "is for --event start"),
        (["--event", "update", "--content-state", "[]"], "takes a JSON object"),
        (["--event", "start", "--content-state", "{}"], "--attributes-type"),
        (["--event", "update", "--dismissal-date", "1m"], "is for --event end"),
        (["--too-large", "refuse", "--too-large", "shorten"], "--too-large takes"),
        (["--key", "k.p8"], "needs --team-id"), (["--key", "k.p8", "--team-id", "DEF123GHIJ"], "needs --key-id"),
        (["--key", "AuthKey_ABC123DEFG.p8", "--team-id", "short"], "--team-id takes"),
        (["--key", "a", "--certificate", "b"], "exclude each other"), (["--team-id", "DEF123GHIJ"], "are for --key"),
        (["--certificate-key", "a"], "is for --certificate"), (["--applications", "a"], "needs --application"),
        (["--timeout", "0s"], "--timeout must be"), (["--priority", "7"], "priority"),
        (["--push-type", "loud"], "push-type"),
        (["--id", "7"], "id"),
    ])
    func `a wrong command line is told`(_ arguments: [String], _ said: String) throws {
        let line = ["push", Self.token, "--dry-run"] + arguments
        if let refused = refusal(line) {
            #expect(refused.status == 64 && refused.message.contains(said), "\(refused.message)")
        } else {
            // What follows from several options is found when the push is made.
            let error = #expect(throws: (any Error).self) { try plan(arguments) }
            #expect(error.map { "\($0)" }?.contains(said) == true, "\(String(describing: error))")
        }
    }

    @Test func `without a dry run somebody must send it`() {
        #expect(refusal(["push", Self.token, "--title", "T"])?.message.contains("--applications is needed") == true)
    }

    @Test func `the id of a key is in the name that Apple gives its file`() {
        #expect(PushCredentialOptions.id(ofFile: "/run/AuthKey_ABC123DEFG.p8") == "ABC123DEFG")
        for path in ["AuthKey_ABC.p8", "key.p8", "AuthKey_ABC123DEFG.pem", "AuthKey_abc123defg.p8"] {
            #expect(PushCredentialOptions.id(ofFile: path) == nil, "\(path)")
        }
    }

    @Test func `a file of applications gives credentials, the bundle and the policy`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let key = files.path("AuthKey.p8")
        _ = try files.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key]
        )
        let file = try files.write(
            """
            shop:
              bundles: [com.example.shop, com.example.beta]
              production: {team: DEF123GHIJ, key: ABC123DEFG, key-file: \(key)}
              too-large: refuse
            """,
            "apns.yaml"
        )
        let command = try command(["--applications", file, "--application", "shop", "--title", "T"])
        let provider = try #require(try command.credentials.provider(.production))
        let plan = try command.plan(provider.application, hasCertificate: false, id: Self.id, at: Self.now)
        #expect(plan.push.headers.topic == "com.example.shop")
        let shown = PushReport.request(
            plan,
            to: "https://api.push.apple.com",
            by: PushReport.provider(provider.credentials)
        )
        #expect(
            shown.contains("authorization: bearer … (key ABC123DEFG of team DEF123GHIJ)\n") && !shown.contains("eyJ")
        )
        #expect(shown.hasPrefix("POST https://api.push.apple.com/3/device/\(Self.token)\n"))
        #expect(throws: CommandFailure.self) { try command.credentials.provider(.development) }
        let other = try self.command(["--applications", file, "--application", "bank"])
        #expect(throws: CommandFailure.self) { try other.credentials.provider(.production) }
        let long = try self.command(
            ["--applications", file, "--application", "shop", "--body", String(repeating: "x", count: 5000)]
        )
        #expect(throws: CommandFailure.self) {
            try long.plan(provider.application, hasCertificate: false, id: Self.id, at: Self.now)
        }
    }

    @Test func `an answer is explained with what the service does then`() throws {
        func text(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> String {
            PushReport.answer(APNsAnswer(status: status, body: Array(body.utf8)) { headers[$0] })
        }
        #expect(
            text(410, #"{"reason":"Unregistered","timestamp":1795251600000}"#, ["apns-id": "i"])
                == "410 Unregistered: the app does not exist on the device any more\nsince: 2026-11-21T09:00:00.000Z\n"
                + "apns-id: i\nthen: the token is gone: a device that registered before is retired\n"
        )
        #expect(text(200, "").hasPrefix("200 accepted\nthen: APNs has it"))
        #expect(text(503, "", ["retry-after": "7"]).contains("503 without a reason\nnot before: 7 s\n"))
        #expect(text(418, #"{"reason":"News\u001b[2J"}"#).hasPrefix("418 News\\u{1b}[2J\nthen: not sent again"))
        #expect(throws: Never.self) { try PushCommand.check(.answer(APNsAnswer(status: 200, body: []))) }
        let refused = #expect(throws: CommandFailure.self) {
            try PushCommand.check(.answer(APNsAnswer(status: 400, body: [])))
        }
        #expect(refused?.status == 1)
        var lost = OutboundFailure(.timedOut, "api.push.apple.com: answer")
        lost.isSent = true
        let failure = #expect(throws: CommandFailure.self) { try PushCommand.check(.failure(lost)) }
        #expect(failure?.status == 69 && failure?.description.contains("it may have arrived") == true)
    }
}
