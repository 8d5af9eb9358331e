import TestSupport
import Testing

@testable import OutboundHTTP

@Suite("Any text as a URL")
struct EgressPropertyTests {
    /// Pieces from which some combinations are URLs.
    private static let pieces = [
        "https", "http", "ftp", ":", "//", "/", "\\", "@", "?", "#", "%", "%41", "%2f", "[", "]", "::", "::1",
        "2606:4700::1", "8.8.8.8",
        "10.0.0.1", "0x7f", "127", ".", "..", "example.com", "localhost", "local", "xn--a", "_", "-", "a", "443", "80",
        "0", " ", "\t",
        "\r\n", "ä", "*", "+", "https://example.com/", "https://", "https://8.8.8.8", "http://media:9000", ";", "=",
        "&", "|",
    ]

    private static func policies() throws -> [EgressPolicy] {
        [
            try EgressPolicy(),
            try EgressPolicy(
                deniedNetworks: ["8.8.8.0/24"],
                origins: ["http://example.com:80", "https://example.com:80"],
                internalOrigins: ["http://media:9000", "https://localhost"],
                allowsNAT64: true
            ),
        ]
    }

    private static func text(using random: inout SeededGenerator) -> String {
        if Int.random(in: 0..<4, using: &random) == 0 {
            let count = Int.random(in: 0..<40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            return String(decoding: Array("https://".utf8.prefix(count)) + bytes, as: UTF8.self)
        }
        let count = Int.random(in: 0..<8, using: &random)
        let start = Bool.random(using: &random) ? "https://" : ""
        return start + (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
    }

    @Test("is refused, or gives a URL that is the same when checked again", arguments: [1, 2, 3, 4])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for policy in try Self.policies() {
            for _ in 0..<10_000 {
                let text = Self.text(using: &random)
                guard let url = try? policy.check(text) else { continue }
                accepted += 1
                guard try policy.check(url.text) == url, isSound(url) else {
                    Issue.record("\(text.debugDescription) became \(url.text.debugDescription)")
                    return
                }
            }
        }
        // The generator does not produce nonsense only.
        #expect(accepted > 100)
    }

    @Test("as a redirect is refused, or gives a URL that is the same when checked again", arguments: [5, 6, 7, 8])
    func redirect(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for policy in try Self.policies() {
            var from = try policy.check("https://example.com/a/b?c")
            for _ in 0..<10_000 {
                let location = Self.text(using: &random)
                guard let url = try? policy.check(location: location, from: from) else { continue }
                guard try policy.check(url.text) == url, isSound(url) else {
                    Issue.record("\(location.debugDescription) from \(from) became \(url.text.debugDescription)")
                    return
                }
                from = url
            }
        }
    }

    /// The parts of a URL cannot break a request line or header.
    private func isSound(_ url: EgressURL) -> Bool {
        url.text.utf8.count <= 2_048 && url.target.hasPrefix("/") && !url.target.contains("#")
            && !url.host.hasSuffix(".")
            && !url.host.isEmpty && url.host == url.host.lowercased() && (0...65_535).contains(url.port)
            && url.text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && url.address?.description ?? url.host == url.host
    }
}
