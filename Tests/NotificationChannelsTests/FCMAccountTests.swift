import Foundation
import HTTPTesting
import NotificationModel
import OutboundHTTP
import ServiceHTTP
import Testing
import TestSupport

@testable import NotificationChannels

@Suite("Service accounts and access tokens of FCM")
struct FCMAccountTests {
    private static let now = FCMSample.now

    // MARK: - Key files

    @Test func `an assertion is a token that OpenSSL verifies, with the claims that Google wants`() throws {
        let account = try ServiceAccount(json: FCMSample.accountJSON, of: "account.json")
        let assertion = try #require(account.assertion(at: Self.now))
        let parts = assertion.split(separator: ".")
        try #require(parts.count == 3)
        let claims = try JSONValue.parse(#require(Base64URL.decode(parts[1].utf8)))
        #expect(claims["aud"] == .string("https://oauth2.googleapis.com/token"))
        #expect(claims["scope"] == .string("https://www.googleapis.com/auth/firebase.messaging"))
        #expect(claims["iat"]?.integerValue == 1_795_251_600 && claims["exp"]?.integerValue == 1_795_255_200)
        let files = try TestFiles()
        defer { files.remove() }
        let pem = try JSONValue.parse(Array(FCMSample.accountJSON.utf8))["private_key"]?.stringValue
        let key = try files.write(#require(pem), "key.pem")
        let signature = files.path("signature")
        try Data(#require(Base64URL.decode(parts[2].utf8))).write(to: URL(fileURLWithPath: signature))
        let signed = try files.write("\(parts[0]).\(parts[1])", "signed")
        _ = try files.run("openssl", ["pkey", "-in", key, "-pubout", "-out", files.path("public.pem")])
        let verdict = try files.run(
            "openssl",
            ["dgst", "-sha256", "-verify", files.path("public.pem"), "-signature", signature, signed]
        )
        #expect(verdict.contains("Verified OK"))
    }

    @Test func `a file that is no key of an account is refused with its path, and nothing of it`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let curve = try String(contentsOfFile: APNsSample.key(files), encoding: .utf8)
        let short = files.path("short.pem")
        _ = try files.run(
            "openssl",
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out", short]
        )
        let weak = try String(contentsOfFile: short, encoding: .utf8)
        for (text, part) in [
            ("secret", "is not JSON"), ("{}", "type"), (FCMSample.json(key: "secret"), "PEM"),
            (FCMSample.json(key: curve), "RS256 needs an RSA key"), (FCMSample.json(key: weak), "2048 bits"),
            (FCMSample.json(key: "secret", type: "authorized_user"), "service_account"),
            (FCMSample.json(key: "secret", project: "a/b"), "project_id"),
            (#"{"type":"service_account","project_id":"p"}"#, "client_email"),
        ] {
            let error = #expect(throws: SigningKeyError.self) { try ServiceAccount(json: text, of: "f.json") }
            let message = try #require(error?.message)
            #expect(message.hasPrefix("f.json") && message.contains(part) && !message.contains("secret"), "\(message)")
        }
        #expect(!String(reflecting: try ServiceAccount(json: FCMSample.accountJSON, of: "f.json")).contains("PRIVATE"))
    }

    // MARK: - The file of applications

    private static func parse(_ text: String) throws -> FCMApplications {
        let files = try TestFiles()
        defer { files.remove() }
        let path = try files.write(FCMSample.accountJSON, "account.json")
        return try FCMApplicationsFile.parse(text.replacing("ACCOUNT", with: path), of: "fcm.yaml")
    }

    @Test func `an application has packages, an account and its policies`() throws {
        let applications = try Self.parse(
            """
            shop: {packages: [com.example.shop, com.example.beta], service-account: ACCOUNT, channels: orders}
            bank:
              packages: com.example.bank
              service-account: ACCOUNT
              project: bank-1234
              display: app
              channels: {passive: quiet, timeSensitive: urgent}
              click-action: OPEN
              collapse: thread
              too-large: refuse
            """
        )
        let shop = try #require(applications["shop"])
        #expect(shop.project == "shop-1" && shop.display == .system && shop.channel(for: .critical) == "orders")
        #expect(
            shop.has(package: nil) && shop.has(package: "com.example.beta") && !shop.has(package: "com.example.bank")
        )
        let bank = try #require(applications["bank"])
        #expect(
            bank.project == "bank-1234" && bank.display == .app && bank.clickAction == "OPEN" && bank.collapsesThreads
        )
        #expect(bank.channel(for: .passive) == "quiet" && bank.channel(for: .active) == nil && bank.oversize == .refuse)
    }

    @Test(arguments: [
        ("{}", "no application"), ("shop: {service-account: ACCOUNT}", "packages"),
        ("shop: {packages: a.b}", "service-account"), ("shop: {packages: [], service-account: ACCOUNT}", "packages"),
        ("shop: {packages: 'a b', service-account: ACCOUNT}", "package name"),
        ("shop: {packages: a.b, service-account: /nowhere.json}", "/nowhere.json"),
        ("shop: {packages: a.b, service-account: ACCOUNT, display: both}", "system, system-v2, app"),
        ("shop: {packages: a.b, service-account: ACCOUNT, channels: {loud: x}}", "loud"),
        ("shop: {packages: a.b, service-account: ACCOUNT, collapse: always}", "collapse"),
        ("shop: {packages: a.b, service-account: ACCOUNT, project: 'a/b'}", "project"),
        ("shop: {packages: a.b, service-account: ACCOUNT, too-large: [x]}", "too-large"),
        ("shop: {package: a.b}", "did you mean `packages`"),
    ])
    func `a file that is wrong is refused with the place`(_ text: String, _ part: String) throws {
        let error = #expect(throws: PushSettingsError.self) { try Self.parse(text) }
        let message = try #require(error?.message)
        #expect(message.hasPrefix("fcm.applications.file: fcm.yaml") && message.contains(part), "\(message)")
    }

    // MARK: - When a token is renewed

    @Test func `a token is renewed ahead by one request, and used until it expires`() {
        var schedule = AccessTokenSchedule()
        #expect(schedule.step(at: 0) == .wait(begins: true) && schedule.step(at: 1) == .wait(begins: false))
        schedule.obtained(lifetime: 3_600_000, at: 0)
        #expect(schedule.step(at: 2_999_999) == .use)
        #expect(schedule.step(at: 3_000_000) == .useAndRenew && schedule.step(at: 3_000_001) == .use)
        schedule.failed(.unavailable("x", retryAfter: nil), at: 3_000_002)
        #expect(schedule.step(at: 3_000_003) == .use)
        #expect(schedule.step(at: 3_001_002) == .useAndRenew)
        #expect(schedule.step(at: 3_589_999) == .use && schedule.step(at: 3_590_000) == .wait(begins: false))
        schedule.obtained(lifetime: 3_600_000, at: 3_590_001)
        #expect(schedule.step(at: 3_590_002) == .use)
        schedule.discard()
        #expect(schedule.step(at: 3_590_003) == .wait(begins: true))
    }

    @Test func `failures pause for longer each time, and a refusal for a minute, until the files are read again`() {
        var schedule = AccessTokenSchedule()
        var (now, pauses) = (Int64(0), [Int64]())
        for _ in 0..<9 {
            #expect(schedule.step(at: now) == .wait(begins: true))
            schedule.failed(.unavailable("x", retryAfter: nil), at: now)
            pauses.append(schedule.pause(at: now))
            now += schedule.pause(at: now)
        }
        #expect(pauses == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
        let refused = TokenFailure.refused("wrong-key")
        _ = schedule.step(at: now)
        schedule.failed(refused, at: now)
        #expect(schedule.step(at: now + 1) == .refused(refused, pause: 59_999))
        schedule.tryAgain()
        #expect(schedule.step(at: now + 2) == .wait(begins: true))
        schedule.failed(.unavailable("x", retryAfter: 5_000), at: now + 2)
        #expect(schedule.pause(at: now + 2) == 5_000)
    }

    // MARK: - Answers of the token service

    private static func failure(
        _ status: Int,
        _ body: String,
        date: Timestamp? = nil,
        retryAfter: Int64? = nil
    ) throws -> TokenFailure {
        let answer = TokenAnswer(status: status, body: Array(body.utf8), date: date, retryAfter: retryAfter)
        let account = try ServiceAccount(json: FCMSample.accountJSON, of: "f")
        return try #require(#expect(throws: TokenFailure.self) { try answer.token(of: account, at: now) })
    }

    @Test(arguments: [
        ("invalid_grant", "Invalid JWT Signature.", "wrong-key"),
        ("invalid_grant", "Invalid grant: account not found", "unknown-account"),
        (
            "invalid_grant", "Invalid JWT: Token must be a short-lived token … Check your iat and exp values",
            "clock-skew"
        ),
        ("invalid_scope", "", "invalid_scope"), ("unauthorized_client", "x", "unauthorized_client"),
    ])
    func `a refusal says what is wrong and what to do`(_ code: String, _ text: String, _ name: String) throws {
        let body = #"{"error":"\#(code)","error_description":"\#(text)"}"#
        guard case .refused(let why) = try Self.failure(400, body, date: Self.now) else {
            Issue.record("it is not refused")
            return
        }
        #expect(why.hasPrefix(name))
    }

    @Test func `a clock that is wrong is named before anything else`() throws {
        let body = #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
        let ahead = try Self.failure(400, body, date: Self.now.adding(milliseconds: -600_000))
        #expect(ahead.detail.contains("600 seconds ahead of"))
        let behind = try Self.failure(400, body, date: Self.now.adding(milliseconds: 301_000))
        #expect(behind.detail.contains("301 seconds behind"))
        let within = try Self.failure(400, body, date: Self.now.adding(milliseconds: 300_000))
        #expect(within.detail.hasPrefix("wrong-key"))
    }

    @Test(arguments: [
        (500, "{}"), (503, "<html>"), (429, #"{"error":"x"}"#), (200, "{}"), (200, #"{"access_token":"a b"}"#),
    ])
    func `what is no refusal is tried again`(_ status: Int, _ body: String) throws {
        guard case .unavailable(_, let pause) = try Self.failure(status, body, retryAfter: 9_000) else {
            Issue.record("it is refused")
            return
        }
        #expect(status == 200 || pause == 9_000)
    }

    @Test func `a token has its life, and an hour without one`() throws {
        let account = try ServiceAccount(json: FCMSample.accountJSON, of: "f")
        func token(_ body: String) throws -> (token: String, lifetime: Int64) {
            try TokenAnswer(status: 200, body: Array(body.utf8)).token(of: account, at: Self.now)
        }
        #expect(try token(#"{"access_token":"a","expires_in":3599,"token_type":"Bearer"}"#) == ("a", 3_599_000))
        #expect(try token(#"{"access_token":"a"}"#) == ("a", 3_600_000))
    }
}
