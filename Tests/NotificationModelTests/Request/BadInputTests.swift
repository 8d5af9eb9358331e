import NotificationModel
import NotificationState
import Testing
import TestSupport

@Suite("Bad input")
struct BadInputTests {
    private let key: NotificationKey
    private let full: [UInt8]

    init() throws {
        key = try NotificationKey(application: "shop", recipient: "user-42", identifier: "order-1001")
        let fixture = try #require(try Fixture.all().first { $0.file == "valid/request-full.json" })
        full = try fixture.contents()
    }

    private func scan(_ value: [UInt8]) -> ModelError? {
        failure { () throws(ModelError) in try RequestRecord.scan(value, key: key) }
    }

    @Test("no prefix of a valid request is accepted")
    func truncated() {
        let trimmed = Array(full.prefix { _ in true }.reversed().drop { $0 <= 0x20 }.reversed())
        #expect(scan(trimmed) == nil)
        for length in 0..<trimmed.count {
            let error = scan(Array(trimmed.prefix(length)))
            #expect(error != nil, "\(length) bytes")
        }
    }

    @Test("mutated requests are refused or accepted but never trap, and accepted ones can be read and written")
    func mutated() throws {
        var generator = SeededGenerator(seed: 42)
        let seeds = try Fixture.all().filter { $0.schema == "request" && $0.isValid }
        for _ in 0..<6000 {
            let fixture = try #require(seeds.randomElement(using: &generator))
            var value = try fixture.contents()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let position = Int.random(in: 0..<value.count, using: &generator)
                switch Int.random(in: 0...4, using: &generator) {
                case 0: value[position] = UInt8.random(in: 0...255, using: &generator)
                case 1: value.remove(at: position)
                case 2: value.insert(UInt8.random(in: 0x20...0x7F, using: &generator), at: position)
                case 3: value[position] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                default: value.swapAt(position, Int.random(in: 0..<value.count, using: &generator))
                }
            }
            let key = try fixture.notificationKey()
            guard let request = try? NotificationRequest(json: value, key: key) else { continue }
            #expect(try NotificationRequest(json: request.json, key: key) == request, "\(text(value))")
        }
    }

    @Test("random bytes never trap any reader")
    func noise() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = bytes("{}[]\":,\\u0019eE+-.tfn \u{E9}/aps")
        for _ in 0..<4000 {
            let length = Int.random(in: 0...60, using: &generator)
            let value = (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
            _ = scan(value)
            _ = failure { () throws(ModelError) in try JSONValue.parse(value) }
            _ = failure { () throws(ModelError) in try DeliveryEvent(json: value, name: .delivered) }
            _ = failure { () throws(ModelError) in try StateMarker(json: value) }
            _ = failure { () throws(ModelError) in try NotificationKey(encoded: value) }
            _ = failure { () throws(ModelError) in
                try BusinessEvent(kafkaHeaders: [("content-type", bytes("application/cloudevents+json"))], value: value)
            }
        }
    }

    @Test(
        "bytes that are not UTF-8 are refused, wherever they are",
        arguments: [
            [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3], [0x80],
            [0xF0, 0x9F, 0x93],
        ] as [[UInt8]]
    )
    func notUTF8(_ bad: [UInt8]) {
        #expect(scan(bytes("{\"content\":{\"title\":\"") + bad + bytes("\"}}"))?.reason == .notUTF8)
        #expect(scan(bytes("{\"content\":{\"title\":\"12345678") + bad + bytes("12345678\"}}"))?.reason == .notUTF8)
        #expect(scan(bytes("{\"content\":{\"userInfo\":{\"") + bad + bytes("\":1}}}"))?.reason == .notUTF8)
        #expect(scan(bad)?.reason == .notUTF8)
    }

    @Test("non-ASCII text of every length at every position is accepted")
    func utf8() {
        for padding in 0..<20 {
            for sample in ["é", "张", "📦", "\u{10FFFF}", "\u{FFFF}"] {
                let title =
                    String(repeating: "x", count: padding) + sample + String(repeating: "y", count: 20 - padding)
                #expect(scan(bytes("{\"content\":{\"title\":\"\(title)\"}}")) == nil)
            }
        }
    }

    @Test("every control character in a string is refused at every distance from its start")
    func control() {
        for byte in UInt8(0)...0x1F {
            for padding in [0, 3, 7, 8, 9, 15] {
                let padding = [UInt8](repeating: 0x78, count: padding)
                let value = bytes("{\"content\":{\"title\":\"") + padding + [byte] + bytes("yyyyyyyyy\"}}")
                #expect(scan(value)?.reason == .invalid)
            }
        }
    }

    @Test("32 levels are accepted, 33 are refused, a million do not exhaust the stack")
    func depth() {
        func nested(_ levels: Int) -> [UInt8] {
            // The request, its content and userInfo are three levels.
            bytes("{\"content\":{\"userInfo\":{\"a\":" + String(repeating: "[", count: levels - 3))
                + bytes(String(repeating: "]", count: levels - 3) + "}}}")
        }
        #expect(scan(nested(32)) == nil)
        #expect(scan(nested(33))?.reason == .invalid)
        #expect(scan(nested(100_000))?.reason == .invalid)
        let flood = [UInt8](repeating: 0x5B, count: 1_000_000)
        #expect(failure { () throws(ModelError) in try JSONValue.parse(flood) }?.reason == .invalid)
    }

    @Test("values above the limit are too large, values at the limit are not")
    func tooLarge() {
        let frame = bytes("{\"content\":{\"title\":\"\"}}").count
        func value(_ size: Int) -> [UInt8] {
            bytes("{\"content\":{\"title\":\"" + String(repeating: "x", count: size - frame) + "\"}}")
        }
        #expect(scan(value(ModelLimits.requestBytes)) == nil)
        #expect(scan(value(ModelLimits.requestBytes + 1))?.reason == .tooLarge)
        #expect(scan(value(5_000_000))?.reason == .tooLarge)
    }

    @Test(
        "numbers out of range are refused and never overflow",
        arguments: [
            "1e999", "-1e999", "1e-999999999999", "123456789012345678901234567890", "9223372036854775808",
            "18446744073709551616", "0.0000000000000000000000000000001", "-0", "1E+400", "99999999999999999999e-19",
        ]
    )
    func numbers(_ number: String) {
        for field in ["badge", "relevanceScore", "summaryArgumentCount"] {
            _ = scan(bytes("{\"content\":{\"title\":\"t\",\"\(field)\":\(number)}}"))
        }
        _ = scan(bytes("{\"content\":{\"title\":\"t\"},\"version\":\(number)}"))
        _ = scan(
            bytes("{\"content\":{\"title\":\"t\"},\"trigger\":{\"type\":\"timeInterval\",\"timeInterval\":\(number)}}")
        )
        #expect(scan(bytes("{\"content\":{\"userInfo\":{\"n\":\(number)}}}")) == nil)
    }
}
