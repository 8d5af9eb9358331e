import NotificationModel
import Testing

@Suite("Events that do not fit a record")
struct ShorteningTests {
    /// Around the value, as the consumer service reckons.
    private static let around = 8 << 10
    private static let sizes = [RecordBound.least, 100_000, 200_000, 320_000, 1_000_000]

    private let key: NotificationKey
    private let id: RequestID

    init() throws {
        let name = String(repeating: "\"", count: 256)
        key = try NotificationKey(application: name, recipient: name, identifier: name)
        id = try RequestID(text: String(repeating: "\"", count: 128))
    }

    private func filler(_ count: Int) -> String { String(repeating: "x", count: count) }

    private func device(_ number: Int, reason: Bool = false) -> String {
        let outcome = reason ? #""reason":"not-authorized""# : #""presentation":["banner"]"#
        return #"{"device":"d\#(number)","platform":"fcm","token":"\#(filler(4_096))","environment":"production","#
            + #""bundleIdentifier":"\#(filler(256))","locale":"de",\#(outcome)}"#
    }

    /// The largest event of a setting.
    private func event(content: Int, devices: [String], actions: Int = 10) -> DeliveryEvent {
        var event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: true, inDoubt: true)
        event.replaces = id
        event.content = bytes(#"{"title":"\#(filler(max(0, content - 12)))"}"#)[...]
        event.enrichment = bytes(#"{"milliseconds":1,"attachments":["\#(filler(20_000))"]}"#)[...]
        event.devices = bytes("[\(devices.joined(separator: ","))]")[...]
        let action = #"{"identifier":"a","title":"\#(filler(2_000))"}"#
        event.actions = bytes("[\(Array(repeating: action, count: actions).joined(separator: ","))]")[...]
        return event
    }

    @Test(
        "at every size of records the largest event fits, with its whole content",
        arguments: sizes,
        [0, 1, 16, 1_000]
    )
    func fits(size: Int, devices: Int) throws {
        let content = RecordBound(size).content()
        let whole = event(content: content, devices: (0..<devices).map { device($0, reason: $0.isMultiple(of: 3)) })
        let event = whole.shortened(to: size - Self.around)
        #expect(event.json.count <= size - Self.around)
        #expect(event.content == whole.content && event.requestID == id && event.closes && event.inDoubt)
        #expect((whole.json.count <= size - Self.around) == event.omitted.isEmpty)
        let read = try DeliveryEvent(json: event.json, name: .delivered)
        #expect(read == event && read.json == event.json)
    }

    @Test("parts go in their order, and no more than necessary")
    func order() throws {
        let whole = event(content: 100, devices: [device(0), device(1, reason: true), device(2)])
        #expect(whole.shortened(to: whole.json.count) == whole)
        var event = whole.shortened(to: whole.json.count - 1)
        #expect(event.omitted == .enrichment && event.actions != nil && event.devices == whole.devices)
        event = whole.shortened(to: event.json.count - 1)
        #expect(event.omitted == [.enrichment, .actions] && event.devices == whole.devices)
        event = whole.shortened(to: event.json.count - 1)
        #expect(event.omitted.names == ["enrichment", "actions", "registrations"])
        func devices() throws -> [JSONValue] {
            try JSONValue.parse(#require(event.devices)).arrayValue ?? []
        }
        #expect(try devices().map { $0["device"]?.stringValue } == ["d0", "d1", "d2"])
        #expect(try devices().allSatisfy { $0["token"] == nil && $0["platform"] == nil && $0["locale"] != nil })
        event = whole.shortened(to: event.json.count - 1)
        #expect(event.omitted.names == ["enrichment", "actions", "registrations", "devices"])
        #expect(try devices().map { $0["device"]?.stringValue } == ["d0", "d2"], "who gets nothing goes first")
        event = whole.shortened(to: event.json.count - 1)
        #expect(try devices().map { $0["device"]?.stringValue } == ["d0"])
        #expect(event.json.starts(with: whole.json.prefix(100)))
    }

    @Test("a response event lacks its content when it does not fit with it")
    func response() throws {
        var whole = ResponseEvent(responseID: id, requestID: id, key: key, actionIdentifier: "reply", matched: true)
        whole.userText = String(repeating: "\n", count: ModelLimits.userTextBytes)
        whole.content = bytes(#"{"title":"\#(filler(60_000))"}"#)[...]
        #expect(whole.shortened(to: whole.json.count) == whole)
        let event = whole.shortened(to: RecordBound.least - Self.around)
        #expect(event.json.count <= RecordBound.least - Self.around)
        #expect(event.content == nil && event.omitsContent && event.matched && event.userText == whole.userText)
        #expect(try ResponseEvent(json: event.json) == event)
    }
}
