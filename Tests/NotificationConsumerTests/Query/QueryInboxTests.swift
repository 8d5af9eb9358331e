import Synchronization
import Testing

import NotificationDelivery
@testable import NotificationConsumer

@Suite("Queries that wait for a lane")
struct QueryInboxTests {
    private final class Answers: Sendable {
        let all = Mutex<[NotificationQuery.Answer]>([])
        var count: Int { all.withLock(\.count) }
        func last<Result: Sendable>(_ body: (NotificationQuery.Answer?) -> Result) -> Result {
            all.withLock { body($0.last) }
        }
    }

    private func waiting(_ answers: Answers) -> QueryInbox.Waiting {
        .init(query: NotificationQuery(key: key(""))) { answer in answers.all.withLock { $0.append(answer) } }
    }

    @Test("beyond the bound they are refused at once, and at the end of the lane all are answered")
    func bound() {
        let answers = Answers()
        let rings = Atomic(0)
        let inbox = QueryInbox { rings.add(1, ordering: .relaxed) }
        for _ in 0..<QueryInbox.bound { inbox.post(waiting(answers)) }
        #expect(answers.count == 0)
        #expect(rings.load(ordering: .relaxed) == QueryInbox.bound)
        inbox.post(waiting(answers))
        #expect(answers.count == 1)
        #expect(answers.last { if case .overloaded = $0 { true } else { false } })
        inbox.close()
        #expect(answers.count == 1 + QueryInbox.bound)
        inbox.post(waiting(answers))
        #expect(answers.count == 2 + QueryInbox.bound)
        #expect(answers.last { if case .unavailable = $0 { true } else { false } })
        #expect(inbox.next() == nil)
    }

    @Test("a lane that gives a partition up does not take it from its next owner in the process")
    func owners() async {
        let router = QueryRouter()
        let (old, new) = (QueryInbox {}, QueryInbox {})
        router.open([0], of: 1, old)
        router.open([0], of: 1, new)
        router.close(0, old)
        new.close()
        guard case .unavailable = await router.answer(NotificationQuery(key: key(""))) else {
            Issue.record("the next owner was not asked")
            return
        }
        router.close(0, new)
        guard case .notOwned(partition: 0) = await router.answer(NotificationQuery(key: key(""))) else {
            Issue.record("nobody owns it")
            return
        }
    }
}
