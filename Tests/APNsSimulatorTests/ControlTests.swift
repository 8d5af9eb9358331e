import Foundation
import HTTPTesting
import PushSimulation
import Testing

@testable import APNsSimulator

/// The control interface.
@Suite(.timeLimit(.minutes(2)))
struct ControlTests {
    private struct Control {
        let http: RawHTTP

        init(_ simulator: APNsSimulator) throws { http = RawHTTP(port: try #require(simulator.controlPort)) }

        /// The status, and the body as one line.
        func call(_ method: String, _ path: String, _ json: String? = nil) async throws -> (Int, String) {
            let headers = json == nil ? [] : [("content-type", "application/json")]
            let answer = try await http.send(method, path, headers: headers, body: json.map { Array($0.utf8) })
            return (answer.status, answer.text)
        }

        /// A member of the answer, by its path.
        func value(_ path: String, _ member: String) async throws -> String? {
            let (_, text) = try await call("GET", path)
            var value = try JSONSerialization.jsonObject(with: Data(text.utf8))
            for step in member.split(separator: ".") {
                if let index = Int(step), let list = value as? [Any] {
                    guard list.indices.contains(index) else { return nil }
                    value = list[index]
                } else {
                    guard let next = (value as? [String: Any])?[String(step)] else { return nil }
                    value = next
                }
            }
            return "\(value)"
        }
    }

    private func withControl(_ body: (APNsSimulator, Control) async throws -> Void) async throws {
        try await withSimulator { simulator async throws in try await body(simulator, try Control(simulator)) }
    }

    private func push(_ simulator: APNsSimulator, to token: String = Desk.token, collapseID: String) async throws -> Int
    {
        let client = try await TestClient.connect(simulator.productionPort, authority: simulator.authorityFile)
        return try await client.answer(client.send(to: token, simulator.authorization(), collapseID: collapseID)).status
    }

    @Test func `devices are registered, go offline and online, and tell what they show and got`() async throws {
        try await withControl { simulator, control async throws in
            let (status, body) = try await control.call(
                "POST",
                "/v1/devices/an%20a/tokens",
                #"{"topic":"com.example.shop","environment":"production"}"#
            )
            #expect(status == 201)
            let json = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String]
            let token = try #require(json?["token"])
            #expect(token.utf8.count == 64)
            #expect(try await control.call("PUT", "/v1/devices/an%20a", #"{"online":false}"#).0 == 204)
            for id in ["a", "b"] { #expect(try await push(simulator, to: token, collapseID: id) == 200) }
            let path = "/v1/devices/an%20a"
            #expect(try await control.value(path, "online") == "0")
            #expect(try await control.value(path, "apps.0.shown.0.identifier") == nil)
            #expect(try await control.value(path, "stored.0.topic") == Desk.topic)
            #expect(try await control.call("PUT", path, #"{"online":true}"#).0 == 204)
            #expect(try await control.value(path, "apps.0.shown.0.identifier") == "b")
            #expect(try await control.value(path, "apps.0.shown.0.payload.aps.alert.title") == "On its way")
            #expect(try await control.value(path, "apps.0.badge") == "3")
            #expect(try await control.value(path, "dropped") == "1")
            #expect(try await control.value("\(path)/pushes", "pushes.0.effect") == "shown")
            #expect(try await control.value("/v1/devices?limit=1", "devices.0.device") == "an a")
            #expect(try await control.value("/v1/devices?limit=1&after=an%20a", "devices.0.device") == "phone")
            #expect(try await control.value("/v1/devices", "count") == "2")
        }
    }

    @Test func `an app is uninstalled, a token ends, a device goes`() async throws {
        try await withControl { simulator, control async throws in
            let path = "/v1/devices/phone"
            #expect(try await control.call("DELETE", "\(path)/apps/com.example.shop?toldAfter=3600").0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 200)
            #expect(try await control.value(path, "received") == "0")
            let again = #"{"topic":"com.example.shop"}"#
            #expect(try await control.call("PUT", "\(path)/tokens/\(Desk.token)", again).0 == 201)
            #expect(try await control.call("DELETE", "\(path)/tokens/\(Desk.token)").0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 410)
            #expect(try await control.value(path, "tokens.0.ended") != nil)
            #expect(try await control.call("PUT", "\(path)/apps/com.example.shop", #"{"forceQuit":true}"#).0 == 204)
            #expect(simulator.device("phone")?.isForceQuit(Desk.topic) == true)
            #expect(try await control.call("DELETE", path).0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 400)
            #expect(try await control.call("GET", path).0 == 404)
        }
    }

    @Test func `keys are added, sign, and are revoked`() async throws {
        try await withControl { simulator, control async throws in
            let pem = String(decoding: try P256PrivateKey.generate().pem(), as: UTF8.self).replacing("\n", with: #"\n"#)
            let key = #"{"team":"TEAM","pem":"\#(pem)","environments":["production"],"topics":["com.example.shop"]}"#
            #expect(try await control.call("PUT", "/v1/keys/KEY", key).0 == 204)
            #expect(try await control.value("/v1/keys", "keys.1.topics.0") == Desk.topic)
            #expect(try await control.call("GET", "/v1/keys").1.contains("PRIVATE") == false)
            let (status, body) = try await control.call("POST", "/v1/keys/KEY/tokens", "{}")
            #expect(status == 201)
            let authorization = try #require(
                (try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String])?["authorization"]
            )
            let client = try await TestClient.connect(simulator.productionPort, authority: simulator.authorityFile)
            #expect(try await client.answer(client.send(authorization)).status == 200)
            #expect(try await control.call("DELETE", "/v1/keys/KEY").0 == 204)
            #expect(try await client.answer(client.send(authorization)).status == 403)
            #expect(try await control.call("POST", "/v1/keys/KEY/tokens", "{}").0 == 404)
        }
    }

    @Test func `faults are set and cleared, and read back as they were set`() async throws {
        try await withControl { simulator, control async throws in
            let faults = [
                #"{"effect":"answer","status":429,"reason":"TooManyRequests","retryAfter":5,"share":0.5,"device":"phone"}"#,
                #"{"effect":"answer","reason":"Unregistered","timestamp":"2026-11-21T09:00:00.000Z"}"#,
                #"{"effect":"delay","seconds":0.04,"connection":3}"#, #"{"effect":"silence","remaining":2}"#,
                #"{"effect":"goAway","reason":"InternalServerError","environment":"development"}"#,
                #"{"effect":"refuseStream","token":"ABCD"}"#, #"{"effect":"cut"}"#,
            ]
            for (index, fault) in faults.enumerated() {
                let (status, text) = try await control.call("PUT", "/v1/faults/f\(index)", fault)
                #expect(status == 204, "\(text)")
            }
            let (_, text) = try await control.call("GET", "/v1/faults")
            let list = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]]
            for (index, found) in try #require(list?["faults"]).enumerated() {
                let given = try JSONSerialization.jsonObject(with: Data(faults[index].utf8)) as? [String: Any]
                for (name, value) in try #require(given) {
                    #expect("\(found[name] ?? "-")".lowercased() == "\(value)".lowercased(), "\(name) of \(index)")
                }
            }
            #expect(try await control.call("DELETE", "/v1/faults/f6").0 == 204)
            #expect(try await control.call("DELETE", "/v1/faults/f6").0 == 404)
            #expect(try await control.call("DELETE", "/v1/faults").0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 200)
        }
    }

    @Test func `behaviour is set as a whole: what is left out has its default`() async throws {
        try await withControl { simulator, control async throws in
            let json = #"{"maximumStreams":20,"roundTrip":0.04,"wedgedByExpiredToken":false,"streamsAfterRefusal":1}"#
            #expect(try await control.call("PUT", "/v1/behaviour", json).0 == 200)
            #expect(simulator.behaviour.roundTrip == .milliseconds(40))
            #expect(try await control.value("/v1/behaviour", "streamsAfterRefusal") == "1")
            #expect(try await control.call("PUT", "/v1/behaviour", "{}").0 == 200)
            #expect(simulator.behaviour == ConnectionBehaviour())
        }
    }

    @Test func `a rate of pushes to a token is set, and lifted`() async throws {
        try await withControl { simulator, control async throws in
            #expect(try await control.call("PUT", "/v1/rate", #"{"pushes":1,"seconds":3600}"#).0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 200)
            #expect(try await push(simulator, collapseID: "a") == 429)
            #expect(try await control.call("DELETE", "/v1/rate").0 == 204)
            #expect(try await push(simulator, collapseID: "a") == 200)
            #expect(try await control.call("PUT", "/v1/rate", #"{"pushes":0,"seconds":1}"#).0 == 400)
        }
    }

    @Test func `connections are listed, and ended`() async throws {
        try await withControl { simulator, control async throws in
            let client = try await TestClient.connect(simulator.productionPort, authority: simulator.authorityFile)
            _ = try await client.answer(client.send(simulator.authorization()))
            let number = try #require(try await control.value("/v1/connections", "connections.0.connection"))
            let path = "/v1/connections/\(number)"
            #expect(try await control.call("POST", "\(path)/freeze").0 == 204)
            #expect(try await control.value("/v1/connections", "connections.0.frozen") == "1")
            #expect(try await control.call("POST", "\(path)/thaw").0 == 204)
            #expect(try await control.call("POST", "\(path)/goaway", #"{"reason":"Shutdown","lastStream":1}"#).0 == 204)
            #expect(try await client.goAway().last == 1)
            try await client.closed()
            let other = try await TestClient.connect(simulator.productionPort, authority: simulator.authorityFile)
            _ = try await other.streams()
            let next = try #require(try await control.value("/v1/connections", "connections.0.connection"))
            #expect(try await control.call("DELETE", "/v1/connections/\(next)").0 == 204)
            try await other.closed()
            #expect(try await control.value("/v1/statistics", "accepted") == "1")
            #expect(try await control.call("DELETE", "/v1/statistics").0 == 204)
            #expect(try await control.value("/v1/statistics", "accepted") == "0")
        }
    }

    @Test(
        arguments: [
            ("PUT", "/v1/faults/a", #"{"effect":"answer"}"#, 400, "status"),
            ("PUT", "/v1/faults/a", #"{"effect":"answer","status":200}"#, 400, "status"),
            ("PUT", "/v1/faults/a", #"{"effect":"delay"}"#, 400, "seconds"),
            ("PUT", "/v1/faults/a", #"{"effect":"delay","seconds":-1}"#, 400, "seconds"),
            ("PUT", "/v1/faults/a", #"{"effect":"rain"}"#, 400, "effect"), ("PUT", "/v1/faults/a", "{}", 400, "effect"),
            ("PUT", "/v1/faults/a", #"{"effect":"cut","share":2}"#, 400, "share"),
            ("PUT", "/v1/faults/a", #"{"effect":"cut","sharee":1}"#, 400, "sharee"),
            ("PUT", "/v1/behaviour", #"{"maximumStreams":0}"#, 400, "maximumStreams"),
            ("PUT", "/v1/behaviour", #"{"streamWindow":2147483648}"#, 400, "streamWindow"),
            ("PUT", "/v1/keys/K", #"{"team":"T","pem":"x"}"#, 400, "pem"),
            ("PUT", "/v1/keys/K", #"{"team":"T","pem":"x","environments":["sandbox"]}"#, 400, "environments"),
            ("POST", "/v1/keys/CARILLON01/tokens", #"{"issuedAt":"now"}"#, 400, "issuedAt"),
            ("PUT", "/v1/devices/phone/tokens/xyz", #"{"topic":"a"}"#, 400, "token"),
            ("PUT", "/v1/devices/phone/tokens/\(Desk.token)", "{}", 400, "topic"),
            ("PUT", "/v1/devices/phone", #"{"online":1}"#, 400, "online"),
            ("PUT", "/v1/devices/", "{}", 400, "device"),
            ("PUT", "/v1/devices/phone", "[]", 400, nil), ("PUT", "/v1/devices/phone", "{", 400, nil),
            ("GET", "/v1/devices?limit=0", nil, 400, "limit"), ("GET", "/v1/devices?size=1", nil, 400, "size"),
            ("DELETE", "/v1/devices/phone/apps/com.example.shop?toldAfter=-1", nil, 400, "toldAfter"),
            ("DELETE", "/v1/devices/phone/apps/com.example.bank", nil, 404, nil),
            ("POST", "/v1/connections/1/goaway", #"{"lastStream":2}"#, 400, "lastStream"),
            ("POST", "/v1/connections/x/freeze", nil, 404, nil), ("DELETE", "/v1/connections/99", nil, 404, nil),
            ("GET", "/v1/nothing", nil, 404, nil), ("PATCH", "/v1/faults", nil, 405, nil),
        ] as [(String, String, String?, Int, String?)]
    )
    func `wrong calls are answered with a problem that names the field`(
        _ method: String,
        _ path: String,
        _ json: String?,
        _ status: Int,
        _ field: String?
    ) async throws {
        try await withControl { _, control async throws in
            let headers = json == nil ? [] : [("content-type", "application/json")]
            let answer = try await control.http.send(method, path, headers: headers, body: json.map { Array($0.utf8) })
            #expect(answer.status == status)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer["field"] == field)
        }
    }

    @Test func `an app sets its badge, and who shows devices is told of changes`() async throws {
        try await withControl { simulator, control async throws in
            let revision = try #require(try await control.value("/v1/changes", "revision"))
            #expect(try await push(simulator, collapseID: "a") == 200)
            let next = try #require(try await control.value("/v1/changes?after=\(revision)", "revision"))
            #expect(next != revision)
            let app = "/v1/devices/phone/apps/com.example.shop"
            #expect(try await control.call("PUT", app, #"{"badge":0}"#).0 == 204)
            #expect(try await control.value("/v1/devices/phone", "apps.0.badge") == "0")
            #expect(try await control.value("/v1/changes?after=\(next)", "revision") != next)
            #expect(try await control.call("PUT", app, #"{"badge":-1}"#).0 == 400)
            #expect(try await control.call("GET", "/v1/changes?after=x").0 == 400)
        }
    }

    @Test func `a page of another name is refused, and a body must say that it is JSON`() async throws {
        try await withControl { _, control async throws in
            let answer = try await control.http.exchange(
                Array("GET /v1/devices HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n".utf8)
            )
            #expect(answer.status == 403)
            #expect(try await control.http.send("PUT", "/v1/behaviour", body: Array("{}".utf8)).status == 415)
        }
    }
}
