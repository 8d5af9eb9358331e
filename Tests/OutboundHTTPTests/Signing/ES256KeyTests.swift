import Foundation
import HTTPTesting
import Testing

@testable import OutboundHTTP

@Suite("Keys that sign tokens")
struct ES256KeyTests {
    private static let begin = "-----BEGIN PRIVATE KEY-----"
    private static let end = "-----END PRIVATE KEY-----"

    private func refusal(_ text: String) -> String? {
        do throws(SigningKeyError) {
            _ = try ES256Key(pem: text, of: "AuthKey.p8")
            return nil
        } catch {
            return error.message
        }
    }

    private func key(_ files: TestFiles, curve: String = "P-256", _ name: String = "key.p8") throws -> String {
        let path = files.path(name)
        _ = try files.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", path]
        )
        return path
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `openssl verifies what a key signs, and each signature has two numbers of 32 bytes`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let path = try key(files)
        let key = try ES256Key.load(path: path)
        _ = try files.run("openssl", ["pkey", "-in", path, "-pubout", "-out", files.path("public.pem")])
        // Numbers that begin with zeros are shorter in the other form: among so many there are some.
        for index in 0..<300 {
            let message = try files.write("message \(index)", "message")
            let signature = try #require(key.signature(of: Array("message \(index)".utf8)))
            #expect(signature.count == 64)
            guard index < 3 || signature[0] == 0 || signature[32] == 0 else { continue }
            try Data(der(signature)).write(to: URL(fileURLWithPath: files.path("signature")))
            let said = try files.run(
                "openssl",
                [
                    "dgst", "-sha256", "-verify", files.path("public.pem"), "-signature", files.path("signature"),
                    message,
                ]
            )
            #expect(said.contains("Verified OK"))
        }
    }

    /// The form of OpenSSL's command: a sequence of two integers.
    private func der(_ signature: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let body = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(body.count)] + body
    }

    @Test func `line ends of every system and blanks around lines are allowed`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let text = try text(key(files))
        for variant in [
            text, text.replacing("\n", with: "\r\n"), "\n\n" + text.replacing("\n", with: " \n"), text + "\n",
        ] {
            #expect(refusal(variant) == nil)
        }
        #expect(refusal("Bag Attributes\n    friendlyName: x\n" + text) == nil)
    }

    @Test func `what is no private key on P-256 is refused with the remedy`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let good = try key(files)
        let certificate = try files.certificate("certificate")
        func made(_ arguments: [String]) throws -> String { try files.run("openssl", arguments) }
        let cases: [(String, String)] = [
            ("", "is no key in PEM"), ("MIGTAgEAMBMGByqGSM49", "is no key in PEM"),
            (try text(certificate.certificate), "has a certificate"),
            (try made(["pkey", "-in", good, "-pubout"]), "has the public key"),
            (try made(["ec", "-in", good]), "openssl pkcs8 -topk8 -nocrypt"),
            (try made(["ecparam", "-name", "prime256v1", "-genkey"]), "2 parts"),
            (try made(["pkcs8", "-topk8", "-in", good, "-passout", "pass:secret"]), "is encrypted"),
            (try text(key(files, curve: "P-384", "other.p8")), "curve P-256"),
            (try made(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]), "curve P-256"),
            (try text(good) + text(good), "2 parts"),
            ("\(Self.begin)\nAAAA\n", "no line -----END"), ("\(Self.begin)\nAAAA\n\(Self.end)\n", "PKCS #8"),
            ("\(Self.begin)\n\(Self.end)\n", "not Base64"), ("\(Self.begin)\n§§§\n\(Self.end)\n", "not Base64"),
            ("-----BEGIN SECRET-----\nAAAA\n-----END SECRET-----\n", "something else"),
        ]
        for (text, said) in cases {
            let message = refusal(text)
            #expect(
                message?.contains(said) == true && message?.hasPrefix("AuthKey.p8 ") == true,
                "\(message ?? "none")"
            )
            let lines = text.split(separator: "\n").filter { $0.count > 16 && !$0.hasPrefix("-----") }
            for line in lines { #expect(message?.contains(line) == false, "a message shows the file") }
        }
    }

    @Test func `a file that cannot be read is named`() throws {
        for path in ["/nowhere/AuthKey.p8", "/dev/null"] {
            let error = #expect(throws: SigningKeyError.self) { try ES256Key.load(path: path) }
            #expect(error?.message.hasPrefix(path) == true)
        }
    }

    @Test func `the same key in two files is one`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let path = try key(files)
        let other = try key(files, "other.p8")
        let (one, again) = (try ES256Key.load(path: path), try ES256Key.load(path: path))
        #expect(one.isSame(as: again))
        #expect(try !one.isSame(as: ES256Key.load(path: other)))
    }
}
