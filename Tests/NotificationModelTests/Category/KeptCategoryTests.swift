import Testing

@testable import NotificationModel
@testable import NotificationState

@Suite("Categories as delivered notifications keep them")
struct KeptCategoryTests {
    private func read(_ json: String) throws(ModelError) -> KeptCategory {
        try bytes(json).borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try KeptCategory(&scanner) }
        }
    }

    @Test(
        "it is written as it was read, members at their default left out",
        arguments: [
            #"{"identifier":"ORDER","dismiss":true,"response":"keep","actions":["track"],"textActions":["reply"]}"#,
            #"{"identifier":"ORDER","response":"dismiss","textActions":["a","b"]}"#,
            #"{"identifier":"\"Ü\""}"#,
        ]
    )
    func roundTrip(_ json: String) throws {
        let kept = try read(json)
        #expect(text(kept.json) == json)
        #expect(try read(text(kept.json)) == kept)
    }

    @Test("it is what the category says")
    func ofCategory() throws {
        let json = """
            {"categories":[{"identifier":"ORDER","options":["customDismissAction"],"response":"keep","actions":[\
            {"identifier":"reply","title":"Reply","textInput":{}},{"identifier":"track","title":"Track"}]}]}
            """
        let kept = try CategorySet(body: bytes(json)).categories[0].kept
        #expect(
            text(kept.json)
                == #"{"identifier":"ORDER","dismiss":true,"response":"keep","actions":["track"],"textActions":["reply"]}"#
        )
        #expect(kept.action("track") == .plain && kept.action("reply") == .textInput)
        #expect(kept.action("other") == nil && kept.action("default") == nil && kept.action("dismiss") == nil)
    }

    @Test("a newer version's members are passed over")
    func newer() throws {
        #expect(try read(#"{"future":[{}],"identifier":"A"}"#) == KeptCategory(identifier: "A"))
    }

    @Test(
        "what Carillon never writes is refused",
        arguments: [
            #"{}"#, #"{"identifier":""}"#, #"{"identifier":"A","response":"maybe"}"#,
            #"{"identifier":"A","actions":["0","1","2","3","4","5","6","7","8","9","10"]}"#,
        ]
    )
    func refused(_ json: String) {
        #expect(failure { () throws(ModelError) in try read(json) }?.reason == .invalid)
    }
}
