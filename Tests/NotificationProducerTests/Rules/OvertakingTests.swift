import Testing

@testable import NotificationProducer

@Suite("Rules whose events can overtake each other")
struct OvertakingTests {
    /// The notes about two rules of different types: one requests, the other cancels.
    private func notes(_ request: String, _ cancel: String, events: (String, String) = ("a", "b")) throws
        -> [Overtaking]
    {
        let text = """
            rules:
              - {event: \(events.0), content: {body: x}, \(request)}
              - {event: \(events.1), \(cancel)}
            """
        return Overtaking.all(in: try RuleFile.parse(text, file: "rules.yaml"))
    }

    private let order = #"recipient: "{{data.customer}}", identifier: "order-{{data.order}}""#

    @Test func `a notification and its cancel by another event are noted, with lines and types`() throws {
        let found = try notes(order, #"recipient: "{{data.user.id}}", cancel: "order-{{data.id}}""#)
        #expect(found == [Overtaking(requestEvent: "a", requestLine: 2, cancelEvent: "b", cancelLine: 3)])
        let words = "line 3 cancels what line 2 requests: a and b take effect in order only with the same key"
        #expect(found.first?.description.contains(words) == true)
        // Events of the same type can overtake each other too.
        #expect(try notes(order, #"recipient: r, cancel: "order-{{data.id}}""#, events: ("a", "a")).count == 1)
        #expect(try notes(#"recipients: "{{data.all}}", identifier: news"#, "recipient: r, cancel: news").count == 1)
    }

    @Test(arguments: [
        #"recipient: "{{data.customer}}", cancel: "invoice-{{data.order}}""#,
        #"recipient: "{{data.customer}}", cancel: "order-{{data.order}}-paid""#,
        #"recipient: "{{data.customer}}", cancel: order-1"#,
        #"recipient: "{{data.customer}}", cancel: "order-{{data.order}}", application: other"#,
    ])
    func `rules for different notifications are not noted`(_ cancel: String) throws {
        #expect(try notes(order + ", application: shop", cancel).isEmpty)
    }

    @Test func `rules that take the identifier or the recipient from the event key are not noted`() throws {
        let subject = #"identifier: "order-{{subject}}""#
        #expect(
            try notes(
                #"recipient: "{{data.c}}", \#(subject)"#,
                #"recipient: "{{data.c}}", cancel: "order-{{subject}}""#
            ).isEmpty
        )
        #expect(
            try notes(#"recipient: "{{partitionkey}}", identifier: x"#, #"recipient: "{{partitionkey}}", cancel: x"#)
                .isEmpty
        )
        #expect(
            try notes(#"recipient: "{{subject}}", identifier: x"#, #"recipient: "{{data.c}}", cancel: x"#).count == 1
        )
        #expect(
            try notes(#"recipient: "{{source}}", identifier: x"#, #"recipient: "{{source}}", cancel: x"#).count == 1
        )
    }

    @Test func `a pair of types is noted once`() throws {
        let text = """
            rules:
              - {event: a, content: {body: x}, recipient: r, identifier: i}
              - {event: a, content: {body: y}, recipient: r, identifier: j}
              - {event: b, recipient: r, cancel: i}
              - {event: b, recipient: r, cancel: j}
              - {event: c, recipient: r, cancel: j}
            """
        let found = Overtaking.all(in: try RuleFile.parse(text, file: "rules.yaml"))
        #expect(found.map(\.cancelLine) == [4, 6])
        #expect(found.map(\.requestLine) == [2, 3])
    }
}
