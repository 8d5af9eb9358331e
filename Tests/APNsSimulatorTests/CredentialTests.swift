import NotificationModel
import PushSimulation
import Testing

@testable import APNsSimulator

/// Provider tokens, and what a connection remembers of them.
struct CredentialTests {
    /// The desk with a second key.
    private func desk(with key: ProviderKey) throws -> (Desk, other: String) {
        var desk = try Desk()
        try desk.state.add(key)
        return (desk, try key.authorization(issuedAt: 1_795_000_000))
    }

    @Test func `tokens that nobody can read or has signed are refused`() throws {
        var desk = try Desk()
        let good = desk.authorization
        #expect(desk.said { $0.authorization = nil } == "MissingProviderToken")
        let foreign = try Desk.key("KEY1").authorization(issuedAt: 1_795_000_000)
        let unknown = try Desk.key("KEY9").authorization(issuedAt: 1_795_000_000)
        let otherTeam = try Desk.key("KEY1", team: "TEAM2").authorization(issuedAt: 1_795_000_000)
        for bad in [
            foreign, unknown, otherTeam, "bearer", "bearer x.y.z", "basic \(good.dropFirst(7))", good + "A",
            String(good.dropLast()), "",
        ] {
            desk.reconnect()
            #expect(desk.said { $0.authorization = bad } == "InvalidProviderToken", "\(bad)")
        }
        #expect(desk.said { $0.authorization = "BEARER" + good.dropFirst(6) } == "200")
    }

    @Test(arguments: [
        (-3_601, "ExpiredProviderToken"), (-3_600, "200"), (3_600, "200"), (7_200, "ExpiredProviderToken"),
    ])
    func `a token is good for an hour, by clocks that differ by less`(_ seconds: Int64, _ reason: String) throws {
        var desk = try Desk()
        let key = try #require(desk.state.keys["KEY1"])
        desk.authorization = try key.authorization(issuedAt: 1_795_000_000 + seconds)
        #expect(desk.said() == reason)
    }

    @Test func `a connection that has refused an expired token answers nothing any more, and another one does`() throws
    {
        var desk = try Desk()
        #expect(desk.said() == "200")
        desk.pass(.seconds(3_601))
        #expect(desk.said() == "ExpiredProviderToken")
        desk.authorization = try #require(desk.state.keys["KEY1"]).authorization(issuedAt: desk.now.rawValue / 1_000)
        #expect(desk.said() == "-")
        #expect(desk.phone?.receivedCount == 1)
        desk.reconnect()
        #expect(desk.said() == "200")
    }

    @Test func `without that the connection goes on`() throws {
        var desk = try Desk()
        desk.state.behaviour.isWedgedByExpiredToken = false
        desk.pass(.seconds(3_601))
        #expect(desk.said() == "ExpiredProviderToken")
        desk.authorization = try #require(desk.state.keys["KEY1"]).authorization(issuedAt: desk.now.rawValue / 1_000)
        #expect(desk.said() == "200")
    }

    @Test func `the token of a connection may change once in 20 minutes`() throws {
        var desk = try Desk()
        desk.state.behaviour.isSilencedByTokenUpdates = false
        let key = try #require(desk.state.keys["KEY1"])
        let tokens = try (0..<3).map { try key.authorization(issuedAt: 1_795_000_000 + $0) }
        var said: [String] = []
        func use(_ index: Int, after: Duration) {
            desk.pass(after)
            desk.authorization = tokens[index]
            said.append(desk.said())
        }
        use(0, after: .zero)
        use(1, after: .seconds(60))
        use(2, after: .seconds(1_199))
        use(1, after: .zero)
        use(2, after: .seconds(1))
        #expect(said == ["200", "200", "TooManyProviderTokenUpdates", "200", "200"])
    }

    @Test func `what came after too many updates is not answered`() throws {
        var desk = try Desk()
        let key = try #require(desk.state.keys["KEY1"])
        var said: [String] = []
        for index in [0, 1, 2, 1] as [Int64] {
            desk.authorization = try key.authorization(issuedAt: 1_795_000_000 + index)
            said.append(desk.said())
        }
        #expect(said == ["200", "200", "TooManyProviderTokenUpdates", "-"])
    }

    @Test func `a connection is one team's`() throws {
        var (desk, other) = try desk(with: Desk.key("KEY2", team: "TEAM2"))
        #expect(desk.said() == "200")
        desk.authorization = other
        #expect(desk.said() == "InvalidProviderToken")
        desk.reconnect()
        #expect(desk.said() == "200")
    }

    @Test(arguments: [(nil, nil, "200"), (Desk.topic, nil, "UnrelatedKeyIdInToken"), (Desk.topic, "KEY1", "200")])
    func `keys of one team take turns if they are related`(_ topic: String?, _ related: String?, _ reason: String)
        throws
    {
        var (desk, other) = try desk(with: Desk.key("KEY2", topics: topic.map { [$0] }, related: related))
        #expect(desk.said() == "200")
        desk.authorization = other
        #expect(desk.said() == reason)
    }

    @Test func `a key is good for its topics and environments only`() throws {
        var (desk, other) = try desk(with: Desk.key("KEY2", environments: [.development], topics: ["com.example.bank"]))
        desk.authorization = other
        #expect(desk.said() == "BadEnvironmentKeyInToken")
        desk.reconnect(.development)
        #expect(desk.said() == "TopicDisallowed")
        #expect(desk.said { $0.topic = "com.example.bank" } == "BadDeviceToken")
    }

    @Test func `a key that is revoked is refused at once, also one with the same id`() throws {
        var desk = try Desk()
        #expect(desk.said() == "200")
        try desk.state.add(Desk.key("KEY1"))
        #expect(desk.said() == "InvalidProviderToken")
        desk.state.keys["KEY1"] = nil
        #expect(desk.said() == "InvalidProviderToken")
    }

    @Test func `keys are read from private and public PEM, and nothing else`() throws {
        let pem = try P256PrivateKey.generate().pem()
        #expect(try ProviderKey(id: "K", team: "T", pem: pem).signer != nil)
        for text in [
            "", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            String(decoding: pem.dropLast(60), as: UTF8.self),
        ] {
            #expect(throws: APNsSimulatorError.self) { try ProviderKey(id: "K", team: "T", pem: Array(text.utf8)) }
        }
        #expect(throws: APNsSimulatorError.self) { try ProviderKey(id: "K 1", team: "T", pem: pem) }
        #expect("\(try ProviderKey(id: "K", team: "T", pem: pem))" == "key K of team T")
    }

    @Test func `a client certificate stands for tokens, and a single one for the topic`() throws {
        var desk = try Desk()
        desk.connection = ConnectionState(
            number: 2,
            environment: .production,
            certificateTopics: [Desk.topic],
            behaviour: desk.state.behaviour
        )
        #expect(desk.connection.streams == 500)
        #expect(desk.said { ($0.authorization, $0.topic) = (nil, nil) } == "200")
        #expect(desk.said { ($0.authorization, $0.topic) = (nil, "com.example.bank") } == "TopicDisallowed")
    }
}
