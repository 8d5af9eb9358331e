import NotificationModel
import Testing

@Suite("Signals")
struct SignalTests {
    /// A body of each type with every member.
    private static let bodies: [(SignalType, String)] = [
        (
            .response,
            #"{"identifier":"i","requestId":"q","responseId":"r","device":"d","actionIdentifier":"reply","userText":"hi"}"#
        ),
        (.receipt, #"{"identifier":"i","requestId":"q","device":"d","receipt":"presented"}"#),
        (.report, #"{"identifier":"i","requestId":"q","device":"d","outcome":"rejected","reason":"BadTopic"}"#),
        (.location, #"{"device":"d","latitude":1,"longitude":2,"accuracy":3,"at":"2026-11-21T09:00:00.000Z"}"#),
        (.appState, #"{"device":"d","state":"background","badge":4,"at":"2026-11-21T09:00:00.000Z"}"#),
        (.retirement, #"{"device":"d","token":"ab","gone":"2026-11-21T09:00:00.000Z"}"#),
    ]

    private static func response(_ userText: String) -> [UInt8] {
        bytes(#"{"identifier":"i","requestId":"q","responseId":"r","actionIdentifier":"a","userText":"\#(userText)"}"#)
    }

    @Test("a signal is written as it was read, with its application first", arguments: bodies)
    func roundTrip(_ type: SignalType, _ body: String) throws {
        var signal = try Signal(type, body: bytes(body))
        #expect(signal.type == type && signal.application == nil)
        #expect(text(signal.json) == body)
        signal.application = "shop"
        #expect(signal.application == "shop")
        #expect(text(signal.json) == #"{"application":"shop","# + body.dropFirst())
        #expect(try Signal(type, json: signal.json) == signal)
    }

    @Test(
        "a record may have fields of a newer version; a call may not, and its application is in the query",
        arguments: bodies
    )
    func unknownFields(_ type: SignalType, _ body: String) throws {
        // `token` and `receipt` are members of other types.
        for field in ["later", type == .receipt ? "token" : "receipt"] {
            let wider = bytes("{\"\(field)\":[{}]," + body.dropFirst())
            #expect(try Signal(type, json: wider) == Signal(type, body: bytes(body)))
            let error = failure { () throws(ModelError) in try Signal(type, body: wider) }
            #expect(error?.reason == .unknownField && error?.field == field)
        }
        let named = failure { () throws(ModelError) in
            try Signal(type, body: bytes(#"{"application":"shop","# + body.dropFirst()))
        }
        #expect(named?.reason == .unknownField && named?.field == "application")
    }

    @Test("a member that is given twice is refused at its name", arguments: bodies)
    func twice(_ type: SignalType, _ body: String) {
        let member = type == .location ? #""device":"e""# : #""device":"d""#
        let error = failure { () throws(ModelError) in try Signal(type, json: bytes("{\(member)," + body.dropFirst())) }
        #expect(error?.reason == .invalid && error?.field == "device")
    }

    @Test("a large value is refused without a scan", arguments: bodies)
    func large(_ type: SignalType, _ body: String) {
        let padding = String(repeating: " ", count: ModelLimits.signalBytes)
        let error = failure { () throws(ModelError) in try Signal(type, json: bytes(body + padding)) }
        #expect(error?.reason == .tooLarge)
    }

    @Test("a response without an id gets one in a call, and is invalid as a record")
    func responseIDs() throws {
        let body = bytes(#"{"identifier":"i","requestId":"q","actionIdentifier":"default"}"#)
        let (first, second) = (try Signal(.response, body: body), try Signal(.response, body: body))
        #expect(first != second)
        guard case .response(let given) = try Signal(.response, body: body, responseID: .text("mine")) else {
            Issue.record("no response")
            return
        }
        #expect(given.responseID == .text("mine") && given.actionIdentifier == ResponseSignal.defaultAction)
        let error = failure { () throws(ModelError) in try Signal(.response, json: body) }
        #expect(error?.reason == .invalid && error?.field == "responseId")
    }

    @Test("what a person typed may be empty, have 8 KiB and lines")
    func texts() throws {
        for typed in [
            "", "Grüße 张三 👋🏽", #"one\ttwo\r\nthree"#, String(repeating: "x", count: 8_192),
            String(repeating: "\\t", count: 8_192), String(repeating: "\\u000a", count: 8_192),
            String(repeating: "\\ud83d\\ude00", count: 2_048),
        ] {
            let signal = try Signal(.response, body: Self.response(typed))
            #expect(try Signal(.response, json: signal.json) == signal)
        }
    }

    @Test(
        "longer text, and control characters in it, are refused at userText",
        arguments: [
            (String(repeating: "x", count: 8_193), ReasonCode.tooLarge),
            (String(repeating: "x", count: 10_240), .tooLarge),
            (String(repeating: "é", count: 4_097), .tooLarge), (#"a\u0000"#, .invalid), (#"\u001b[31m"#, .invalid),
            (#"\u007f"#, .invalid), ("\u{85}", .invalid), (#"\u000b"#, .invalid),
        ]
    )
    func badTexts(_ typed: String, _ reason: ReasonCode) {
        let error = failure { () throws(ModelError) in try Signal(.response, body: Self.response(typed)) }
        #expect(error?.reason == reason && error?.field == "userText")
        #expect(error?.detail.contains(typed) == false)
    }

    @Test("bytes that are not UTF-8 are refused")
    func notUTF8() {
        let json = bytes(#"{"device":"d","state":"background","later":""#) + [0xFF] + bytes("\"}")
        #expect(failure { () throws(ModelError) in try Signal(.appState, json: json) }?.reason == .notUTF8)
    }

    @Test("a token in hexadecimal is kept as a registration keeps it; others as they are")
    func retiredTokens() throws {
        for (given, kept) in [("<AB CD>", "abcd"), ("cX:APA91b", "cX:APA91b"), ("ABC", "ABC")] {
            let signal = try Signal(
                .retirement,
                body: bytes(#"{"device":"d","token":"\#(given)","gone":"2026-11-21T09:00:00.000Z"}"#)
            )
            #expect(text(signal.json).contains("\"token\":\"\(kept)\""))
        }
    }

    @Test("an instant of a device may be five minutes ahead of the clock and no further", arguments: bodies)
    func future(_ type: SignalType, _ body: String) throws {
        let signal = try Signal(type, body: bytes(body))
        let at = Timestamp(rawValue: 1_795_251_600_000)
        try signal.checkTime(at: at.adding(milliseconds: -300_000))
        let error = failure { () throws(ModelError) in try signal.checkTime(at: at.adding(milliseconds: -300_001)) }
        let fields: [SignalType: String] = [.location: "at", .appState: "at", .retirement: "gone"]
        #expect(error?.field == fields[type] && (error == nil || error?.reason == .inFuture))
    }
}
