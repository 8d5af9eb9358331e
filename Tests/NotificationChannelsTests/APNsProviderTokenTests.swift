import Foundation
import HTTPTesting
import NotificationModel
import OutboundHTTP
import Testing
import TestSupport

@testable import NotificationChannels
@testable import ServiceHTTP

@Suite("When provider tokens change")
struct APNsProviderTokenScheduleTests {
    private typealias Schedule = ProviderTokenSchedule
    private static let hour: Int64 = 3600
    private static let start: Int64 = 1_795_250_000 / 1800 * 1800

    @Test func `instances that begin at different times have tokens of one time of issue`() {
        for offset in [0, 1, 899, 1799] as [Int64] {
            var schedule = Schedule()
            #expect(schedule.timeOfIssue(at: Self.start + offset) == Self.start, "\(offset)")
        }
    }

    @Test func `a token is replaced with the half hour, half an hour before it would expire`() {
        var schedule = Schedule()
        #expect(schedule.timeOfIssue(at: Self.start) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 1799) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 1800) == Self.start + 1800)
    }

    @Test func `one that was made shortly before the half hour stays for twenty minutes`() {
        var schedule = Schedule()
        #expect(schedule.timeOfIssue(at: Self.start + 1790) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 1800) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 1790 + 1199) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 1790 + 1200) == Self.start + 1800)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `whenever it is asked, a token is young enough and none follows another within twenty minutes`(_ seed: UInt64)
    {
        var generator = SeededGenerator(seed: seed)
        var schedule = Schedule()
        var now = Self.start + Int64.random(in: 0..<Self.hour, using: &generator)
        var (last, changed) = (schedule.timeOfIssue(at: now), now)
        for _ in 0..<2000 {
            now += Int64.random(in: 1...Int64.random(in: 1...2 * Self.hour, using: &generator), using: &generator)
            if Int.random(in: 0..<50, using: &generator) == 0 { schedule.hold(at: now) }
            let time = schedule.timeOfIssue(at: now)
            #expect((0..<Schedule.longestAge).contains(now - time), "seed \(seed) at \(now)")
            guard time != last else { continue }
            #expect(time > last && now - changed >= Schedule.pause, "seed \(seed) at \(now)")
            (last, changed) = (time, now)
        }
    }

    @Test func `an expired token is renewed once, as young as possible, and a second refusal is a wrong clock`() {
        var schedule = Schedule()
        let first = schedule.timeOfIssue(at: Self.start + 600)
        #expect(schedule.renew(refused: first, at: Self.start + 700) == .renewed)
        let second = schedule.timeOfIssue(at: Self.start + 701)
        #expect(second == Self.start + 700)
        #expect(schedule.renew(refused: first, at: Self.start + 702) == .superseded, "a push that was on its way")
        #expect(schedule.timeOfIssue(at: Self.start + 702) == second)
        #expect(schedule.renew(refused: second, at: Self.start + 703) == .clockSkew)
        #expect(schedule.timeOfIssue(at: Self.start + 704) == second, "a wrong clock makes no further tokens")
        // Someone has corrected the clock: later it may be tried again.
        #expect(schedule.renew(refused: second, at: Self.start + 700 + 1800) == .renewed)
    }

    @Test func `a token that is as young as one can be, and refused as expired, is a wrong clock at once`() {
        for now in [Self.start, Self.start - 60] {
            var schedule = Schedule()
            let time = schedule.timeOfIssue(at: Self.start)
            #expect(schedule.renew(refused: time, at: now) == .clockSkew)
        }
    }

    @Test func `too many updates keep the token beyond the half hour, and not until it expires`() {
        var schedule = Schedule()
        _ = schedule.timeOfIssue(at: Self.start)
        schedule.hold(at: Self.start + 1700)
        #expect(schedule.timeOfIssue(at: Self.start + 2800) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start + 2900) == Self.start + 1800)
        schedule.hold(at: Self.start + 5000)
        #expect(schedule.timeOfIssue(at: Self.start + 1800 + 3299) == Self.start + 1800)
        #expect(schedule.timeOfIssue(at: Self.start + 1800 + 3300) == Self.start + 3600)
    }

    @Test func `a clock that is corrected keeps the token, one that is set back makes another`() {
        var schedule = Schedule()
        _ = schedule.timeOfIssue(at: Self.start + 60)
        #expect(schedule.timeOfIssue(at: Self.start - 60) == Self.start)
        #expect(schedule.timeOfIssue(at: Self.start - 7200) == Self.start - 7200)
    }
}

@Suite("Provider tokens")
struct APNsProviderTokenTests {
    /// Ten minutes after the half hour.
    private static let now = Timestamp(rawValue: 1_795_252_200_000)

    private func decoded(_ part: Substring) throws -> [UInt8] {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Array(try #require(Data(base64Encoded: String(text))))
    }

    @Test func `a token has the claims of Apple's page, and the signature of the key`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let path = try APNsSample.key(files)
        let tokens = ProviderTokens(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", key: try ES256Key.load(path: path))
        let token = try #require(tokens.token(at: Self.now))
        let text = try #require(token.authorization.split(separator: " ").last)
        #expect(token.authorization.hasPrefix("bearer ") && !token.authorization.contains("="))
        let parts = text.split(separator: ".")
        try #require(parts.count == 3)
        #expect(try isSame(decoded(parts[0]), #"{"alg":"ES256","kid":"ABC123DEFG"}"#))
        #expect(try isSame(decoded(parts[1]), #"{"iss":"DEF123GHIJ","iat":1795251600}"#))

        _ = try files.run("openssl", ["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", files.path("public")])
        let der = Array(try Data(contentsOf: URL(fileURLWithPath: files.path("public"))))
        let verifier = try #require(ECPublicKey(der: der))
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        #expect(try verifier.verifies(decoded(parts[2]), of: signed))
        #expect(try !verifier.verifies(decoded(parts[2]), of: signed + [0]))
    }

    @Test func `everyone gets one token until it is renewed`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let key = try ES256Key.load(path: APNsSample.key(files))
        let tokens = ProviderTokens(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", key: key)
        let all = await withTaskGroup(of: ProviderTokens.Token?.self) { group in
            for _ in 0..<100 { group.addTask { tokens.token(at: Self.now) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(all.count == 1)
        let first = try #require(all.first ?? nil)
        #expect(tokens.renew(refused: first.issuedAt, at: Self.now) == .repeated)
        let second = try #require(tokens.token(at: Self.now))
        #expect(second != first)
        #expect(
            tokens.renew(refused: first.issuedAt, at: Self.now) == .repeated && tokens.token(at: Self.now) == second
        )
        #expect(tokens.renew(refused: second.issuedAt, at: Self.now) == .clockSkew)
        tokens.hold(at: Self.now)
        #expect(tokens.token(at: Self.now.adding(milliseconds: 1_100_000)) == second)
    }

    @Test func `no text shows a token or a key`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let key = try ES256Key.load(path: APNsSample.key(files))
        let tokens = ProviderTokens(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", key: key)
        let token = try #require(tokens.token(at: Self.now))
        var dumped = ""
        dump((key, tokens, token), to: &dumped)
        for text in [dumped, "\(key) \(tokens) \(token)", String(reflecting: token), String(reflecting: tokens)] {
            #expect(!text.contains("bearer") && !text.contains("eyJ"), "\(text)")
        }
    }

    @Test(arguments: ["ABC123DEFG", "0123456789"])
    func `ids have ten capital letters and digits`(_ id: String) { #expect(ProviderTokens.isID(id)) }

    @Test(arguments: ["", "ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC123DEF ", "ÄBC123DEF", "ABC\"},x:1"])
    func `other ids are none`(_ id: String) { #expect(!ProviderTokens.isID(id)) }
}
