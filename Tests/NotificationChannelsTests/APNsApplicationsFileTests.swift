import Foundation
import HTTPTesting
import NotificationModel
import OutboundHTTP
import Testing

@testable import NotificationChannels

@Suite("The file of applications of APNs")
struct APNsApplicationsFileTests {
    /// Files of two keys and a certificate.
    private final class Desk {
        let files: TestFiles
        let key: String
        let other: String
        let certificate: (certificate: String, key: String)

        init() throws {
            files = try TestFiles()
            key = try APNsSample.key(files)
            other = try APNsSample.key(files, "Other.p8")
            certificate = try files.certificate("apns")
        }

        deinit { files.remove() }

        /// With `KEY`, `OTHER`, `CERT` and `CERTKEY` for the paths.
        func parse(_ text: String, keeping former: APNsApplications? = nil) throws(PushSettingsError)
            -> APNsApplications
        {
            let filled = text.replacing("CERTKEY", with: certificate.key)
                .replacing("CERT", with: certificate.certificate)
                .replacing("OTHER", with: other).replacing("KEY", with: key)
            return try APNsApplicationsFile.parse(filled, of: "apns.yaml", keeping: former)
        }

        func refusal(_ text: String) -> String? {
            do throws(PushSettingsError) {
                _ = try parse(text)
                return nil
            } catch {
                return error.message
            }
        }
    }

    private static let shop = """
        shop:
          bundles: com.example.shop
          team: DEF123GHIJ
          key: ABC123DEFG
          key-file: KEY

        """

    @Test func `several teams and apps, with keys and certificates, by environment`() throws {
        let desk = try Desk()
        let applications = try desk.parse(
            Self.shop + """
                bank:
                  bundles: [com.example.bank, com.example.bank.clip]
                  production: {certificate: CERT, certificate-key: CERTKEY}
                  development: {team: GHI456JKLM, key: NOP789QRST, key-file: OTHER}
                  too-large: [drop-media, shorten]
                  removal: overwrite
                  removal-text: This message was withdrawn.
                news:
                  bundles: com.example.news
                  production: {team: DEF123GHIJ, key: ABC123DEFG, key-file: KEY}
                  too-large: refuse
                """
        )
        #expect(applications.count == 3 && applications["pharmacy"] == nil)
        let shop = try #require(applications["shop"])
        #expect(shop.bundles == ["com.example.shop"] && shop.oversize == .standard && shop.removal == .ask)
        let bank = try #require(applications["bank"])
        #expect(bank.oversize == OversizePolicy(steps: [.dropMedia, .shorten]))
        #expect(bank.removal == .overwrite(text: "This message was withdrawn."))
        guard case .certificate? = bank.credentials[.production],
            case .tokens(let own)? = bank.credentials[.development]
        else { throw Failure() }
        #expect(own.teamID == "GHI456JKLM" && own.keyID == "NOP789QRST")
        let news = try #require(applications["news"])
        #expect(news.oversize == .refuse && news.credentials[.development] == nil)
        // One key has one source of tokens, whoever names it.
        guard case .tokens(let ofShop)? = shop.credentials[.production],
            case .tokens(let again)? = shop.credentials[.development],
            case .tokens(let ofNews)? = news.credentials[.production]
        else { throw Failure() }
        #expect(ofShop === again && ofShop === ofNews && ofShop !== own)
        #expect(applications.credentials.count == 3)
    }

    private struct Failure: Error {}

    @Test func `a device's app is one of the application, the first when its registration names none`() throws {
        let desk = try Desk()
        let text = Self.shop.replacing("com.example.shop", with: "[com.example.shop, com.example.shop.beta]")
        let shop = try #require(try desk.parse(text)["shop"])
        #expect(shop.bundle(nil) == "com.example.shop")
        #expect(shop.bundle("com.example.shop.beta") == "com.example.shop.beta")
        #expect(shop.bundle("com.example.bank") == nil, "another application's app is none of its own")
    }

    @Test func `after a reload a key that is the same keeps its tokens, and a changed one does not`() throws {
        let desk = try Desk()
        let now = Timestamp(rawValue: 1_795_251_600_000)
        func tokens(_ applications: APNsApplications) throws -> ProviderTokens {
            guard case .tokens(let tokens)? = applications["shop"]?.credentials[.production] else { throw Failure() }
            return tokens
        }
        let first = try desk.parse(Self.shop)
        let token = try tokens(first).token(at: now)
        let more = Self.shop + Self.shop.replacing("shop:", with: "mall:")
        let second = try desk.parse(more, keeping: first)
        #expect(try tokens(second) === tokens(first) && tokens(second).token(at: now) == token)
        let third = try desk.parse(Self.shop.replacing("KEY", with: "OTHER"), keeping: second)
        #expect(try tokens(third) !== tokens(second))
        // The file of the key has another one now.
        try FileManager.default.removeItem(atPath: desk.key)
        try FileManager.default.copyItem(atPath: desk.other, toPath: desk.key)
        let fourth = try desk.parse(Self.shop, keeping: second)
        #expect(try tokens(fourth) !== tokens(second))
        let certificate = "shop: {bundles: a.b, certificate: CERT, certificate-key: CERTKEY}"
        let (one, other) = (try desk.parse(certificate), try desk.parse(certificate))
        #expect(try #require(one.credentials.first).isSame(as: #require(other.credentials.first)))
    }

    @Test(arguments: [
        ("", "must be a mapping"), ("{}", "no application"), ("[a]", "must be a mapping"),
        ("shop: 5", "must be a mapping"),
        ("shop: {}", "needs `bundles`"), ("shop: {bundles: a.b}", "has no `team`"),
        ("? [a]\n: b", "a name must be a text"), ("shop: {bundles: a.b", "is not YAML"),
        ("shop: {bundles: a b, team: DEF123GHIJ}", "no bundle identifier"),
        ("shop: {bundles: \"a\\r\\nx: y\"}", "no bundle identifier"), ("shop: {bundles: []}", "needs `bundles`"),
        ("shop: {bundles: a.b, team: DEF123GHIJ, key: ABC123DEFG}", "has no `key-file`"),
        ("shop: {bundles: a.b, team: def123ghij, key: ABC123DEFG, key-file: KEY}", "`team` must be the id of a team"),
        ("shop: {bundles: a.b, team: DEF123GHIJ, key: ABC, key-file: KEY}", "`key` must be the id of a key"),
        ("shop: {bundles: a.b, team: DEF123GHIJ, key: ABC123DEFG, key-file: /nowhere}", "`key-file`: /nowhere cannot"),
        ("shop: {bundles: a.b, team: DEF123GHIJ, key: ABC123DEFG, key-file: CERT}", "has a certificate"),
        ("shop: {bundles: a.b, certificate: /nowhere}", "`certificate`: /nowhere cannot"),
        ("shop: {bundles: a.b, certificate: KEY}", "not a file of certificates"),
        ("shop: {bundles: a.b, certificate: CERT, certificate-key: KEY}", "is not the key of the certificate"),
        ("shop: {bundles: a.b, certificate: CERT, team: DEF123GHIJ}", "`team` is not for a certificate"),
        ("shop: {bundles: a.b, certificate-key: KEY}", "`certificate-key` is not for a key"),
        ("shop: {bundels: a.b}", "did you mean `bundles`?"), ("shop: {bundles: a.b, keyfile: x}", "`key-file`"),
        ("shop: {bundles: a.b, production: {tema: x}}", "did you mean `team`?"),
        ("shop: {bundles: a.b, removal: forget, certificate: CERT, certificate-key: CERTKEY}", "ask or overwrite"),
        (
            "shop: {bundles: a.b, removal: overwrite, certificate: CERT, certificate-key: CERTKEY}",
            "needs a `removal-text`"
        ),
        (
            "shop: {bundles: a.b, removal-text: x, certificate: CERT, certificate-key: CERTKEY}",
            "is for `removal: overwrite`"
        ),
        ("shop: {bundles: a.b, too-large: [shorten, shorten]}", "`too-large` must be"),
        ("shop: {bundles: a.b, too-large: [refuse, shorten]}", "`too-large` must be"),
        ("shop: {bundles: a.b, too-large: [], certificate: CERT, certificate-key: CERTKEY}", "`too-large` must be"),
        ("\"a\\0\": {bundles: a.b}", "is no application"),
    ])
    func `what is wrong is told with its place and the setting`(_ text: String, _ said: String) throws {
        let message = try #require(try Desk().refusal(text))
        #expect(message.contains(said), "\(message)")
        #expect(message.hasPrefix("apns.applications.file: apns.yaml"), "\(message)")
    }

    @Test func `an application has credentials of its own or of environments`() throws {
        let text = Self.shop + "  production: {team: DEF123GHIJ, key: ABC123DEFG, key-file: KEY}\n"
        #expect(try Desk().refusal(text)?.contains("give one or the other") == true)
        #expect(try Desk().refusal(Self.shop + Self.shop) != nil, "an application appears twice")
    }

    @Test func `no message shows what is in a file of a key`() throws {
        let desk = try Desk()
        let secret = try String(contentsOfFile: desk.certificate.key, encoding: .utf8)
        let lines = secret.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        for name in ["CERTKEY", "CERT"] {
            let text = Self.shop.replacing("KEY\n", with: "\(name)\n")
            if let message = desk.refusal(text) {
                for line in lines { #expect(!message.contains(line)) }
            }
        }
        let file = try desk.files.write("secret: [5\n", "broken.yaml")
        let error = #expect(throws: PushSettingsError.self) { try APNsApplicationsFile.load(path: file) }
        #expect(error?.message.contains(file) == true)
        #expect(throws: PushSettingsError.self) { try APNsApplicationsFile.load(path: "/nowhere") }
    }
}
