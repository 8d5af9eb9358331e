import NotificationModel
import Testing

@Suite("Locations of devices")
struct LocationFixTests {
    private static let good = #""device":"d","latitude":1,"longitude":2,"at":"2026-11-21T08:00:00.000Z""#

    @Test("a record may have fields of a newer version; a call may not, and its application is in the query")
    func unknownFields() throws {
        #expect(try LocationFix(json: bytes("{\(Self.good),\"altitude\":12}")).latitude == 1)
        let unknown = failure { () throws(ModelError) in try LocationFix(body: bytes("{\(Self.good),\"altitude\":12}"))
        }
        #expect(unknown?.reason == .unknownField && unknown?.field == "altitude")
        #expect(try LocationFix(json: bytes("{\(Self.good),\"application\":\"shop\"}")).application == "shop")
        let named = failure { () throws(ModelError) in
            try LocationFix(body: bytes("{\(Self.good),\"application\":\"shop\"}"))
        }
        #expect(named?.reason == .unknownField && named?.field == "application")
    }

    @Test("a large value is refused without a scan")
    func large() {
        let padding = String(repeating: " ", count: ModelLimits.signalBytes)
        let error = failure { () throws(ModelError) in try LocationFix(json: bytes("{\(Self.good)}\(padding)")) }
        #expect(error?.reason == .tooLarge)
    }

    @Test("a fix may be five minutes ahead of the clock and no further")
    func future() throws {
        let fix = try LocationFix(json: bytes("{\(Self.good)}"))
        try fix.checkTime(at: fix.at)
        try fix.checkTime(at: fix.at.adding(milliseconds: -300_000))
        let error = failure { () throws(ModelError) in try fix.checkTime(at: fix.at.adding(milliseconds: -300_001)) }
        #expect(error?.reason == .inFuture && error?.field == "at")
    }

    @Test("the types of signals are those of the contract, exactly")
    func types() {
        for type in SignalType.allCases {
            #expect(bytes("carillon.signal.\(type.rawValue).v1").withUnsafeBytes(SignalType.init(eventType:)) == type)
        }
        for text in ["", "carillon.signal.location.v2", "carillon.signal.Location.v1", "location"] {
            #expect(bytes(text).withUnsafeBytes(SignalType.init(eventType:)) == nil)
        }
    }

    @Test("the key of a signal is the recipient, percent-encoded", arguments: ["user-42", "ana/1", "Grüße 张三", "50%"])
    func keys(_ recipient: String) throws {
        let key = try SignalKey.bytes(recipient: recipient)
        #expect(try SignalKey.recipient(of: key) == recipient)
        #expect(!text(key).contains("/"))
    }

    @Test("a key that is no recipient is refused at the key", arguments: ["", "a%", "a%0a", "%ff", "\u{7}"])
    func badKeys(_ key: String) {
        let error = failure { () throws(ModelError) in try SignalKey.recipient(of: bytes(key)) }
        #expect(error?.field == "key" && [.invalid, .notUTF8].contains(error?.reason))
    }
}
