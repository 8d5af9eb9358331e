import Foundation
import HTTPTesting
import Testing

@testable import ServiceHTTP

@Suite("The security of a listener")
struct ListenerSecurityTests {
    private static let tokens = "publish publisher-0123456789"

    private struct Settings {
        var host = "127.0.0.1"
        var tokensFile: String?
        var recipientKeys: String?
        var tlsCertificate: String?
        var tlsKey: String?
    }

    @discardableResult
    private func read(_ change: (inout Settings) -> Void) throws(ListenerSettingsError) -> ListenerSecurity {
        var settings = Settings()
        change(&settings)
        return try ListenerSecurity(
            host: settings.host,
            files: ListenerFiles(
                tokens: settings.tokensFile,
                recipientKeys: settings.recipientKeys,
                certificate: settings.tlsCertificate,
                key: settings.tlsKey
            )
        )
    }

    private func withFiles(_ body: (TestFiles) throws -> Void) throws {
        let files = try TestFiles()
        defer { files.remove() }
        try body(files)
    }

    @Test(
        "Without tokens only the loopback address is allowed",
        arguments: [
            "0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "1127.0.0.1", "127.0.0.1.example.com", "example.com", "",
            "::ffff:10.0.0.1",
        ]
    )
    func notLoopback(host: String) throws {
        let error = #expect(throws: ListenerSettingsError.self) { try read { $0.host = host } }
        #expect(error?.key == "http.host")
        #expect(error?.description.contains("http.tokens.file") == true, "it says what to do")
        try withFiles { files in
            let path = try files.write(Self.tokens, "tokens")
            let security = try read {
                $0.host = host
                $0.tokensFile = path
            }
            #expect(security.exposesTokens)
            guard case .tokens = security.access else { return #expect(Bool(false), "\(security.access)") }
        }
    }

    @Test(
        "The loopback address has several names",
        arguments: ["127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "localhost", "LocalHost"]
    )
    func loopback(host: String) throws {
        let security = try read { $0.host = host }
        guard case .thisMachine(host) = security.access else { return #expect(Bool(false), "\(security.access)") }
        try withFiles { files in
            let path = try files.write(Self.tokens, "tokens")
            #expect(try !read { ($0.host, $0.tokensFile) = (host, path) }.exposesTokens)
        }
    }

    @Test("Invalid files of tokens and TLS are refused, and the error names the setting")
    func files() throws {
        try withFiles { files in
            func refused(_ key: String, _ change: (inout Settings) -> Void) {
                let error = #expect(throws: ListenerSettingsError.self) { try read(change) }
                #expect(error?.key == key, "\(String(describing: error))")
            }
            refused("http.tokens.file") { $0.tokensFile = files.path("nothing") }
            refused("http.recipient-keys.file") { $0.recipientKeys = files.path("nothing") }
            let one = try files.certificate("one")
            let other = try files.certificate("other")
            let tokens = try files.write(Self.tokens, "tokens")
            let security = try read {
                ($0.host, $0.tokensFile) = ("0.0.0.0", tokens)
                ($0.tlsCertificate, $0.tlsKey) = (one.certificate, one.key)
            }
            #expect(security.tls != nil)
            #expect(!security.exposesTokens)
            refused("http.tls.key") { $0.tlsCertificate = one.certificate }
            refused("http.tls.certificate") { $0.tlsKey = one.key }
            refused("http.tls.certificate") { ($0.tlsCertificate, $0.tlsKey) = (files.path("nothing"), one.key) }
            refused("http.tls.key") { ($0.tlsCertificate, $0.tlsKey) = (one.certificate, files.path("nothing")) }
            refused("http.tls.certificate") { ($0.tlsCertificate, $0.tlsKey) = (one.key, one.key) }
            refused("http.tls.key") { ($0.tlsCertificate, $0.tlsKey) = (one.certificate, one.certificate) }
            refused("http.tls.key") { ($0.tlsCertificate, $0.tlsKey) = (one.certificate, other.key) }
            let text = try files.write("no PEM", "text")
            refused("http.tls.certificate") { ($0.tlsCertificate, $0.tlsKey) = (text, one.key) }
            refused("http.tls.key") { ($0.tlsCertificate, $0.tlsKey) = (one.certificate, text) }
        }
    }

    @Test("Files are read again; what is wrong keeps the one before, and does not keep the others back")
    func reload() throws {
        try withFiles { files in
            let tokens = try files.write("publish shop publisher-0123456789", "tokens")
            let keys = try files.write("shop k HS256 \(String(repeating: "A", count: 44))", "keys")
            let (one, other) = (try files.certificate("one"), try files.certificate("other"))
            let security = try read {
                ($0.tokensFile, $0.recipientKeys) = (tokens, keys)
                ($0.tlsCertificate, $0.tlsKey) = (one.certificate, one.key)
            }
            func accepts(_ token: String) throws -> Bool {
                guard case .tokens(let tokens) = security.access else { return false }
                return tokens.bearers.caller(of: token[...]) != nil
            }
            func recipients() -> String {
                guard case .tokens(let tokens) = security.access else { return "" }
                return "\(tokens.recipients)"
            }
            let first = try #require(security.tls)
            #expect(security.reload().isEmpty)
            #expect(try accepts("publisher-0123456789") && recipients() == "1 keys")

            _ = try files.write("publish shop another-0123456789", "tokens")
            _ = try files.write(try String(contentsOfFile: other.certificate, encoding: .utf8), "one.pem")
            #expect(security.reload().map(\.key) == ["http.tls.key"], "the key is still the former one")
            #expect(try !accepts("publisher-0123456789") && accepts("another-0123456789"))
            let kept = try #require(security.tls)

            _ = try files.write(try String(contentsOfFile: other.key, encoding: .utf8), "one-key.pem")
            _ = try files.write("publish", "tokens")
            #expect(security.reload().map(\.key) == ["http.tokens.file"])
            #expect(try accepts("another-0123456789"))
            let replaced = try #require(security.tls)
            #expect(replaced !== kept && replaced !== first)

            // Tokens and keys change together.
            _ = try files.write("publish shop a-third-0123456789", "tokens")
            _ = try files.write("", "keys")
            #expect(security.reload().map(\.key) == ["http.recipient-keys.file"])
            #expect(try accepts("another-0123456789") && recipients() == "1 keys")
        }
    }
}
