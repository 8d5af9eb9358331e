import Foundation
import Testing

/// Both services with the channel `devices`, and the simulator of APNs: Live Activities and broadcasts as requests.
@Suite("Live Activities of Apple devices", .serialized)
struct LiveActivitiesTests {
    private typealias World = AppleDevicesTests.World

    private static let topic = "com.example.shop.push-type.liveactivity"

    /// The newest activity that a phone shows.
    private static func activity(_ phone: String, _ world: World) async throws -> [String: Any]? {
        let found = try await world.simulator.control("GET", "/v1/devices/\(phone)")
        return (found["activities"] as? [[String: Any]])?.last
    }

    private static func eta(_ phone: String, _ world: World) async throws -> Int? {
        (try await activity(phone, world)?["contentState"] as? [String: Any])?["eta"] as? Int
    }

    private static func register(_ device: String, of recipient: String, _ json: String, _ world: World) async throws {
        let body = #"{"platform":"apns","bundleIdentifier":"com.example.shop",\#(json)}"#
        let answer = try await world.stack.call("PUT", "recipients/\(recipient)/devices/\(device)", body)
        #expect(answer.status == 202, "\(answer.text)")
        _ = try await world.stack.device("registered", device, of: recipient)
    }

    /// The app of a phone registers its token to start activities.
    private static func registerStart(_ phone: String, of recipient: String, _ world: World) async throws {
        let token = try await world.simulator.register(topic, device: phone)
        let kind = #""kind":"liveActivityStart","attributesType":"Order","token":"\#(token)""#
        try await register("\(phone)-start", of: recipient, kind, world)
    }

    private static func content(_ eta: Int, _ others: String = "") -> String {
        #"""
        {"content":{"title":"On its way","body":"\#(eta) minutes","sound":"bell.caf",
          "liveActivity":{"attributesType":"Order","attributes":{"order":"1001"},"contentState":{"eta":\#(eta)}\#(others)}}}
        """#
    }

    @Test("a phone starts it, gets its updates once its app has told the token, and ends it")
    func life() async throws {
        try await AppleDevicesTests.with { world in
            let ana = world.stack.recipient()
            let phone = "\(ana)-phone"
            try await Self.registerStart(phone, of: ana, world)
            // The ordinary token of the phone gets nothing of it.
            try await world.register(phone, of: ana)
            try await world.stack.put(ana, "order", Self.content(15))
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(
                try delivered.deviceOutcomes == ["\(phone) suppressed unsupported-form", "\(phone)-start accepted"]
            )
            #expect(try await Self.eta(phone, world) == 15)
            #expect(try await world.titles(phone).isEmpty)

            // Nothing reaches the activity before its token is known.
            let dismissal = #","dismissalDate":"2026-11-21T09:30:00.000Z""#
            try await world.stack.put(ana, "order", Self.content(5, dismissal))
            let activity = try #require(try await Self.activity(phone, world))
            let token = try #require(activity["token"] as? String)
            let members =
                #""kind":"liveActivity","activity":"order","pushToStart":"\#(phone)-start","token":"\#(token)""#
            try await Self.register("\(phone)-order", of: ana, members, world)
            let updated = try await world.stack.events("delivered", ana, "order", count: 2)
            #expect(try updated.last?.deviceOutcomes.last == "\(phone)-start accepted")
            #expect(try await Self.eta(phone, world) == 5)

            try await world.stack.delete(ana, "order", state: "delivered")
            let removed = try await world.stack.event("removed", ana, "order")
            #expect(try removed.deviceOutcomes == ["\(phone)-start requested"])
            let ended = try #require(try await Self.activity(phone, world))
            #expect(ended["ended"] as? Bool == true && ended["dismissalDate"] as? Int == 1_795_253_400)
            let (first, last) = (activity["timestamp"] as? Int ?? 0, ended["timestamp"] as? Int ?? 0)
            #expect(first > 0 && first < last)
            _ = try await world.stack.device("retired", "\(phone)-order", of: ana)

            // Another one may follow.
            try await world.stack.put(ana, "order", Self.content(30))
            _ = try await world.stack.events("delivered", ana, "order", count: 3)
            let again = try #require(try await Self.activity(phone, world))
            #expect(again["id"] as? String != activity["id"] as? String && again["ended"] as? Bool == false)
        }
    }

    @Test("one broadcast reaches all that follow its channel")
    func broadcast() async throws {
        try await AppleDevicesTests.with { world in
            let channel = try await Self.makeChannel(world)
            let (ana, ben, match) = (world.stack.recipient(), world.stack.recipient(), world.stack.recipient())
            for recipient in [ana, ben] {
                try await Self.registerStart("\(recipient)-phone", of: recipient, world)
                try await world.stack.put(recipient, "match", Self.content(0, #","broadcastChannel":"\#(channel)""#))
                _ = try await world.stack.event("delivered", recipient, "match")
            }
            try await Self.register("channel", of: match, #""kind":"broadcastChannel","token":"\#(channel)""#, world)
            try await world.stack.put(match, "score", #"{"content":{"liveActivity":{"contentState":{"eta":90}}}}"#)
            let delivered = try await world.stack.event("delivered", match, "score")
            #expect(try delivered.deviceOutcomes == ["channel accepted"])
            for recipient in [ana, ben] { #expect(try await Self.eta("\(recipient)-phone", world) == 90) }
        }
    }

    /// Makes a broadcast channel, as the operator does.
    private static func makeChannel(_ world: World) async throws -> String {
        let authorization = try #require(
            try await world.simulator.control("POST", "/v1/keys/CARILLON01/tokens")["authorization"] as? String
        )
        let found = try await ChildProcess.run(
            try Tools.program("curl"),
            [
                "--silent", "--show-error", "--http2", "--cacert", try world.simulator.place("authority"),
                "--dump-header",
                "-", "--header", "authorization: \(authorization)", "--data",
                #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#,
                "\(try world.simulator.place("production"))/1/apps/com.example.shop/channels",
            ]
        )
        let line = found.outputText.split(whereSeparator: \.isNewline).first { $0.hasPrefix("apns-channel-id: ") }
        return try #require(line.map { String($0.dropFirst("apns-channel-id: ".count)) }, "\(found.outputText)")
    }
}
