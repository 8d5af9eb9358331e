import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Live Activities in rules")
struct LiveActivityRuleTests {
    private static let fields = """
        version: "{{data.at}}"
        content:
          title: Order {{data.order}}
          body: "{{data.eta}} minutes"
          liveActivity:
            attributesType: OrderAttributes
            attributes: {order: "{{data.order}}"}
            contentState: {eta: "{{data.eta}}", stage: Kitchen, steps: [1, 2]}
            staleDate: "{{data.stale}}"
            relevanceScore: 75.5
        """

    @Test("A rule renders the state of an activity; one variable alone keeps its type")
    func rendered() throws {
        let event = BusinessEvent.sample(
            data: #"{"order":1001,"eta":15,"at":1795251600,"stale":"2026-11-21T09:10:00Z"}"#
        )
        let request = try Rules.request(try Rules.rule(Self.fields), event)
        #expect(request["version"]?.integerValue == 1_795_251_600)
        let expected = #"""
            {"attributesType":"OrderAttributes","attributes":{"order":1001},
             "contentState":{"eta":15,"stage":"Kitchen","steps":[1,2]},"staleDate":"2026-11-21T09:10:00Z","relevanceScore":75.5}
            """#
        #expect(try request.value(at: "content.liveActivity") == JSONValue.parse(Array(expected.utf8)))
    }

    @Test("What an event makes of a state is a dead letter that names its place")
    func invalid() throws {
        let whole = try Rules.rule("content: {liveActivity: {contentState: \"{{data.state}}\"}}")
        #expect(try Rules.failure(whole, .sample(data: #"{"state":7}"#)).field == "content.liveActivity.contentState")
        let stale = #"{"order":1,"eta":1,"at":1795251600,"stale":"soon"}"#
        let error = try Rules.failure(try Rules.rule(Self.fields), .sample(data: stale))
        #expect(error.field == "content.liveActivity.staleDate")
    }

    @Test("What belongs together is checked when the rules are read")
    func problems() {
        func found(_ content: String) -> [String] { Rules.problems(Rules.text(content)).map(\.message) }
        let constant = "liveActivity: {attributesType: A, attributes: {a: 1}, contentState: {}}"
        #expect(found("content: {title: T, body: B, \(constant)}").isEmpty)
        #expect(found("content: {title: \"{{data.t}}\", body: B, \(constant)}").isEmpty)
        // A start shows an alert.
        #expect(found("content: {title: \"{{data.t}}\", \(constant)}").contains { $0.contains("title and the body") })
        let variable = "liveActivity: {contentState: {eta: \"{{data.eta}}\"}}"
        #expect(found("content: {\(variable)}").isEmpty)
        #expect(found("content: {badge: 1, \(variable)}").contains { $0.contains("`content.badge`") })
        #expect(found("content: {liveActivity: {contentState: {}, event: start}}").contains { $0.contains("event") })
        #expect(
            found("content: {liveActivity: {attributes: {}, contentState: {}}}").contains {
                $0.contains("attributesType")
            }
        )
    }
}
