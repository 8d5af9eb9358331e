import NotificationModel
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Quiet hours, caps and digests in rules")
struct LimitMembersTests {
    private let event = BusinessEvent.sample(data: #"{"zone":"Asia/Shanghai","n":3,"thread":"orders"}"#)

    private func limits(_ fields: String, file: String = "") throws -> DeliveryLimits? {
        let engine = try Rules.rule(fields, file: file)
        let (outputs, failures) = Rules.apply(engine, event)
        if let error = failures.first?.error { throw error }
        let output = try #require(outputs.first)
        return try NotificationRequest(json: output.value, key: output.key).limits
    }

    @Test("A rule writes them into its request, with variables, and leaves a digest's templates to the digest")
    func written() throws {
        let limits = try limits(
            """
            content: {title: t, threadIdentifier: "{{data.thread}}"}
            quietHours: {start: 22:00, end: "07:00", policy: suppress, timeZone: "{{data.zone}}"}
            cap: {count: "{{data.n}}", period: 86400}
            digest: {by: thread, window: 600, title: "{{count}} updates", body: "{{titles}}"}
            """
        )
        #expect(
            limits
                == DeliveryLimits(
                    quietHours: QuietHours(start: 1320, end: 420, policy: .suppress, timeZone: "Asia/Shanghai"),
                    cap: DeliveryCap(count: 3, period: 86_400_000),
                    digest: DigestPolicy(by: .thread, window: 600_000, title: "{{count}} updates", body: "{{titles}}")
                )
        )
    }

    private static let defaults = """
        defaults:
          quietHours: {start: 22:00, end: 07:00}
          cap: {count: 5, period: 60}
          digest: {by: category, window: 60}
          content: {categoryIdentifier: ORDER}
        """

    @Test("A rule has the limits of the defaults, overrides each as a whole, and removes each with null")
    func defaults() throws {
        let quiet = QuietHours(start: 1320, end: 420)
        let digest = DigestPolicy(by: .category, window: 60_000)
        #expect(
            try limits("content: {title: t}", file: Self.defaults)
                == DeliveryLimits(quietHours: quiet, cap: DeliveryCap(count: 5, period: 60_000), digest: digest)
        )
        #expect(
            try limits("content: {title: t}\ncap: {count: 1, period: 1}\nquietHours: null", file: Self.defaults)
                == DeliveryLimits(cap: DeliveryCap(count: 1, period: 1_000), digest: digest)
        )
        #expect(
            try limits("content: {title: t}\ncap: ~\nquietHours: null\ndigest: null", file: Self.defaults) == nil
        )
    }

    @Test("A cancelling rule takes none of them")
    func cancel() throws {
        _ = try Rules.engine(Self.defaults + "\nrules: [{event: e, recipient: r, cancel: i}]")
        let problems = Rules.problems("rules: [{event: e, recipient: r, cancel: i, cap: {count: 1, period: 1}}]")
        #expect(problems.count == 1 && problems[0].message.contains("cannot be combined with `cancel`"))
    }

    @Test(
        "What cannot be right is reported with its line",
        arguments: [
            ("quietHours: {start: 22:00}", 7, "missing"), ("quietHours: {start: 25:00, end: 07:00}", 7, "00:00"),
            ("quietHours: {start: 22:00, end: 22:00}", 7, "same time"),
            ("quietHours: {start: 22:00, end: 07:00, polcy: hold}", 7, "did you mean `policy`?"),
            ("quietHours: {start: 22:00, end: 07:00, policy: drop}", 7, "hold, suppress"),
            ("quietHours:\n  start: 22:00\n  end: 07:00\n  timeZone: Europe/Atlantis", 10, "Europe/Atlantis"),
            ("quietHours: 22:00", 7, "mapping"), ("quietHours: {start: 22, end: 07:00}", 7, "must be text"),
            ("cap: {count: 0, period: 60}", 7, "1 to 1000"), ("cap: {count: some, period: 60}", 7, "number"),
            ("cap: {period: 60}", 7, "missing"), ("cap: 3", 7, "mapping"),
            ("digest: {by: thread, window: 60, title: \"{{number}}\"}", 7, "{{titles}}"),
            ("digest: {by: thread, window: 60, title: [a]}", 7, "text"),
            ("digest: {by: recipient, window: 60}", 7, "thread, category"),
            ("digest: {by: thread, window: 86401}", 7, "86400"),
            ("digest: {by: category, window: 60}", 7, "content.categoryIdentifier"),
            (
                "digest: {by: thread, window: 60}\ntrigger: {type: timeInterval, timeInterval: 60, repeats: true}", 7,
                "repeats"
            ),
        ]
    )
    func refused(fields: String, line: Int, words: String) {
        let found = Rules.problems(Rules.text("content: {body: x, threadIdentifier: t}\n" + fields))
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test("A localization without the group, and defaults that a rule cannot have, are reported once")
    func elsewhere() {
        let localized = """
            content: {body: x, threadIdentifier: t}
            digest: {by: thread, window: 60}
            locale: "{{data.l}}"
            localizations: {de: {threadIdentifier: null}}
            """
        #expect(Rules.problems(Rules.text(localized)).map(\.line) == [7])
        let defaults = "defaults: {digest: {by: thread, window: 60}}"
        let found = Rules.problems(Rules.text("content: {body: x}", file: defaults))
        #expect(found.map(\.line) == [6], "\(found)")
        let wrong = Rules.problems(
            "defaults:\n  cap: {count: 0, period: 1}\nrules: [{event: e, recipient: r, cancel: i}]"
        )
        #expect(wrong.map(\.line) == [2])
    }

    @Test("What an event makes wrong is a dead letter")
    func events() throws {
        let zone = try Rules.rule(
            "content: {body: x}\nquietHours: {start: 22:00, end: 07:00, timeZone: \"{{data.z}}\"}"
        )
        #expect(try Rules.failure(zone, .sample(data: #"{"z":"Europe/Atlantis"}"#)).field == "quietHours.timeZone")
        #expect(try Rules.failure(zone, .sample(data: "{}")).reason == .missingVariable)
        let thread = try Rules.rule(
            "content: {body: x, threadIdentifier: \"{{data.t}}\"}\ndigest: {by: thread, window: 60}"
        )
        #expect(try Rules.failure(thread, .sample(data: #"{"t":""}"#)).field == "digest.by")
    }
}
