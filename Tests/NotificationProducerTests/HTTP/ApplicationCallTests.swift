import Foundation
import HTTPTesting
import Kafka
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Calls with tokens of applications and of recipients", .timeLimit(.minutes(10)))
struct ApplicationCallTests {
    private static let shop = "shop-0123456789-shop"
    private static let bank = "bank-0123456789-bank"
    private static let gateway = "gateway-0123456789"
    private static let both = "both-0123456789-both"
    private static let all = "all-0123456789-all-all"
    private static let tokens = """
        publish            \(shop)
        publish,query bank \(bank)
        signal        shop \(gateway)
        publish shop,bank  \(both)
        admin *            \(all)
        """
    private static let signer = TestToken(id: "k")
    private static let seconds = ProducerHarness.now.rawValue / 1_000
    private static let notification = #"{"content":{"body":"x"}}"#
    private static let device = #"{"platform":"fcm","token":"t"}"#
    private static let receipt = #"{"identifier":"i","requestId":"q","device":"d","receipt":"opened"}"#

    private func send(
        _ harness: ProducerHarness,
        _ token: String,
        _ method: String,
        _ target: String,
        _ body: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> RawHTTP.Answer {
        try await harness.http.send(
            method,
            target,
            headers: [("content-type", "application/json"), ("authorization", "Bearer \(token)")] + headers,
            body: body.map { Array($0.utf8) }
        )
    }

    /// Every write of one application, with its body and the role that it takes.
    private static let writes: [(method: String, path: String, body: String?, isSignal: Bool)] = [
        ("PUT", "/v1/recipients/ana/notifications/i", notification, false),
        ("POST", "/v1/recipients/ana/notifications", notification, false),
        ("DELETE", "/v1/recipients/ana/notifications/i", nil, false),
        ("DELETE", "/v1/recipients/ana/notifications", nil, false),
        ("PUT", "/v1/recipients/ana/devices/d", device, true),
        ("DELETE", "/v1/recipients/ana/devices/d", nil, true),
        ("POST", "/v1/recipients/ana/receipts", receipt, true),
        (
            "POST", "/v1/recipients/ana/responses",
            #"{"identifier":"i","requestId":"q","actionIdentifier":"default"}"#, true
        ),
        (
            "POST", "/v1/recipients/ana/reports",
            #"{"identifier":"i","requestId":"q","device":"d","outcome":"accepted"}"#, true
        ),
        (
            "POST", "/v1/recipients/ana/locations",
            #"{"device":"d","latitude":1,"longitude":1,"accuracy":1,"at":"\#(ProducerHarness.now.rfc3339)"}"#, true
        ),
        ("POST", "/v1/recipients/ana/app-states", #"{"device":"d","state":"foreground"}"#, true),
        (
            "POST", "/v1/recipients/ana/retirements",
            #"{"device":"d","token":"t","gone":"\#(ProducerHarness.now.rfc3339)"}"#, true
        ),
    ]

    @Test("Each write takes its role, and a token that is good for the application")
    func writes() async throws {
        try await ProducerHarness.with(tokens: Self.tokens) { harness in
            for write in Self.writes {
                func expect(_ status: Int, _ token: String, _ query: String = "") async throws {
                    let answer = try await send(harness, token, write.method, write.path + query, write.body)
                    #expect(answer.status == status, "\(write.method) \(write.path)\(query): \(answer.text)")
                    if status == 403 { #expect(answer["reason"] == "forbidden", "\(answer.text)") }
                }
                let (able, unable) = write.isSignal ? (Self.gateway, Self.shop) : (Self.shop, Self.gateway)
                try await expect(202, able)
                try await expect(202, able, "?application=shop")
                try await expect(403, able, "?application=bank")
                try await expect(403, unable)
                try await expect(403, Self.bank)
                for application in ["shop", "bank", "x"] {
                    try await expect(202, Self.all, "?application=\(application)")
                }
            }
            let topics = ProducerHarness.topics
            #expect(try await harness.records(topics.requests, count: 20).count == 20)
        }
    }

    @Test("A recipient token is good for the devices and signals of its recipient, and for nothing else")
    func recipients() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let keys = try files.write("shop k HS256 \(Self.signer.key)", "keys")
        let token = Self.signer.signed(for: "ana", at: Self.seconds)
        try await ProducerHarness.with {
            $0.http.recipientKeysFile = keys
        } _: { harness in
            for write in Self.writes {
                let other = write.path.replacing("/ana/", with: "/bob/")
                for (path, status) in [
                    (write.path, write.isSignal ? 202 : 403), ("\(write.path)?application=bank", 403), (other, 403),
                ] {
                    let answer = try await send(harness, token, write.method, path, write.body)
                    #expect(answer.status == status, "\(write.method) \(path): \(answer.text)")
                }
            }
            let event = #"{"specversion":"1.0","id":"1","source":"/s","type":"t"}"#
            for (method, path) in [("POST", "/v1/events"), ("GET", "/v1/categories"), ("PUT", "/v1/categories")] {
                #expect(try await send(harness, token, method, path, event).status == 403, "\(path)")
            }
            let expired = Self.signer.signed(for: "ana", at: Self.seconds - 3_600)
            let answer = try await send(harness, expired, "DELETE", "/v1/recipients/ana/devices/d")
            #expect(answer.status == 401 && answer["detail"] == "The token has expired.", "\(answer.text)")
            #expect(answer.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
            #expect(!harness.log.lines.contains { $0.contains(token) })
        }
    }

    // MARK: Events

    private static let rules = """
        rules:
          - event: order
            recipient: ana
            identifier: i
            application: "{{data.application}}"
            content: {title: t}
        """

    private static func event(_ id: String, _ application: String) -> String {
        #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"order","data":{"application":"\#(application)"}}"#
    }

    @Test("An event reaches only the applications of its sender's token, whoever applies the rules")
    func events() async throws {
        try await ProducerHarness.with(rules: Self.rules, tokens: Self.tokens) { harness in
            func post(_ token: String, _ body: String, _ type: String) async throws -> RawHTTP.Answer {
                try await harness.http.send(
                    "POST",
                    "/v1/events",
                    headers: [
                        ("content-type", "application/\(type)+json"), ("authorization", "Bearer \(token)"),
                        // What a sender says about it counts for nothing.
                        ("carillon-applications", "bank"), ("ce-carillonapplications", "bank"),
                    ],
                    body: Array(body.utf8)
                )
            }
            func one(_ token: String, _ id: String, _ application: String) async throws -> Int {
                try await post(token, Self.event(id, application), "cloudevents").status
            }
            #expect(try await one(Self.shop, "1", "bank") == 403)
            #expect(try await one(Self.gateway, "2", "shop") == 403)
            #expect(try await one(Self.shop, "3", "shop") == 202)
            #expect(try await one(Self.bank, "4", "bank") == 202)
            #expect(try await one(Self.both, "5", "bank") == 202)
            #expect(try await one(Self.all, "6", "other") == 202)
            let batch = "[\(Self.event("7", "shop")),\(Self.event("8", "bank"))]"
            #expect(try await post(Self.shop, batch, "cloudevents-batch").status == 403)
            #expect(try await post(Self.both, batch, "cloudevents-batch").status == 202)
            let records = try await harness.records(ProducerHarness.topics.businessEvents, count: 6)
            let scopes = Dictionary(
                uniqueKeysWithValues: records.map { ($0.header("ce_id"), $0.header(EventScope.header)) }
            )
            #expect(
                scopes == ["3": "shop", "4": "bank", "5": "shop,bank", "6": nil, "7": "shop,bank", "8": "shop,bank"]
            )
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 6).count == 6)
        }
    }

    @Test(
        "What another process accepted is a dead letter where its rules lead to an application that is not the sender's"
    )
    func scopedEvents() async throws {
        try await ProducerHarness.with(rules: Self.rules) { harness in
            func record(_ id: String, _ application: String, _ scope: [UInt8]?) -> KafkaProducerRecord {
                var record = BusinessEvent.sample(id: id, type: "order", data: #"{"application":"\#(application)"}"#)
                    .record
                record.headers += scope.map { [KafkaHeader(name: EventScope.header, value: $0)] } ?? []
                return record
            }
            try await harness.produce([
                record("1", "bank", Array("shop".utf8)), record("2", "shop", Array("shop".utf8)),
                record("3", "bank", nil),
                record("4", "caf\u{E9}", Array("shop,caf%C3%A9".utf8)), record("5", "bank", []),
                record("6", "bank", [0xFF]), record("7", "cafe\u{301}", Array("shop,caf%C3%A9".utf8)),
            ])
            let requests = try await harness.records(ProducerHarness.topics.requests, count: 3)
            #expect(Set(requests.map(\.keyText)) == ["shop/ana/i", "bank/ana/i", "caf%C3%A9/ana/i"])
            let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: 4)
            #expect(letters.allSatisfy { $0.header(DeadLetter.reasonHeader) == "forbidden" })
            #expect(letters.allSatisfy { $0.header(DeadLetter.fieldHeader) == "application" })
            #expect(Set(letters.map { $0.header("ce_id") }) == ["1", "5", "6", "7"])
        }
    }

    // MARK: Ids and reload

    @Test("One Idempotency-Key of two callers gives two ids, of one caller one")
    func idempotency() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let keys = try files.write("shop k HS256 \(Self.signer.key)", "keys")
        try await ProducerHarness.with(tokens: Self.tokens) {
            $0.http.recipientKeysFile = keys
        } _: { harness in
            func id(_ token: String, _ path: String, _ body: String, _ member: String) async throws -> String {
                let answer = try await send(
                    harness,
                    token,
                    path.hasSuffix("/i") ? "PUT" : "POST",
                    path,
                    body,
                    headers: [("idempotency-key", "\"1\"")]
                )
                return try #require(answer[member], "\(answer.text)")
            }
            for (path, member) in [
                ("/v1/recipients/ana/notifications/i", "requestId"), ("/v1/recipients/ana/notifications", "identifier"),
            ] {
                let first = try await id(Self.shop, path, Self.notification, member)
                #expect(try await id(Self.shop, path, Self.notification, member) == first)
                #expect(try await id(Self.both, path, Self.notification, member) != first)
            }
            let (path, body) = ("/v1/recipients/ana/responses", Self.writes[7].body ?? "")
            let token = Self.signer.signed(for: "ana", at: Self.seconds)
            let first = try await id(token, path, body, "responseId")
            // The back end gives a recipient a new token every day.
            let next = Self.signer.signed(for: "ana", at: Self.seconds - 60)
            #expect(try await id(next, path, body, "responseId") == first)
            #expect(try await id(Self.gateway, path, body, "responseId") != first)
        }
    }

    @Test(
        "SIGHUP's action reads tokens, keys and the certificate again; a file that is wrong keeps the former one, and is logged"
    )
    func reload() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let tokens = try files.write(Self.tokens, "tokens")
        let keys = try files.write("shop k HS256 \(Self.signer.key)", "keys")
        let (one, other) = (try files.certificate("one"), try files.certificate("other"))
        let recipient = Self.signer.signed(for: "ana", at: Self.seconds)
        try await ProducerHarness.with {
            ($0.http.tokensFile, $0.http.recipientKeysFile) = (tokens, keys)
            ($0.http.tlsCertificate, $0.http.tlsKey) = (one.certificate, one.key)
        } _: { harness in
            func status(_ token: String, trusting certificate: String) async throws -> String {
                let url = "https://localhost:\(harness.http.port)/v1/recipients/ana/devices/d"
                let command =
                    "curl --silent --cacert \(certificate) --request DELETE --header 'authorization: Bearer \(token)' "
                    + "--output /dev/null --write-out '%{http_code}' \(url) || true"
                return try await files.runAside("sh", ["-c", command])
            }
            let former = try files.write(try String(contentsOfFile: one.certificate, encoding: .utf8), "former.pem")
            #expect(try await status(Self.gateway, trusting: former) == "202")
            #expect(try await status(recipient, trusting: former) == "202")

            _ = try files.write("no token", "tokens")
            _ = try files.write(try String(contentsOfFile: other.key, encoding: .utf8), "one-key.pem")
            await harness.service.reload()
            let errors = harness.log.lines.filter { $0.hasPrefix("error: ") }
            #expect(errors.count == 2 && errors[0].contains("http.tokens.file") && errors[1].contains("http.tls.key"))
            #expect(try await status(Self.gateway, trusting: former) == "202")

            _ = try files.write("signal another-0123456789", "tokens")
            _ = try files.write("bank k HS256 \(Self.signer.key)", "keys")
            _ = try files.write(try String(contentsOfFile: other.certificate, encoding: .utf8), "one.pem")
            await harness.service.reload()
            #expect(try await status(Self.gateway, trusting: other.certificate) == "401")
            #expect(try await status("another-0123456789", trusting: other.certificate) == "202")
            #expect(try await status(recipient, trusting: other.certificate) == "403", "its key is the bank's now")
            #expect(try await status("another-0123456789", trusting: former) == "000")
            #expect(harness.log.lines.filter { $0.hasPrefix("error: ") }.count == 2)
        }
    }
}
