import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func id(_ number: Int) -> UUIDValue { UUIDValue(high: 0, low: UInt64(number)) }

    @Test func `a pause follows from the operation and the attempt`() throws {
        for attempt in 1...20 {
            let pause = policy.pause(after: attempt, of: id(1), spent: 0, request: nil)
            #expect(policy.pause(after: attempt, of: id(1), spent: 5, request: nil) == pause)
        }
        let pauses = try (0..<1000).map { try #require(policy.pause(after: 9, of: id($0), spent: 0, request: nil)) }
        #expect(pauses.allSatisfy { (128_000...256_000).contains($0) })
        // Spread evenly: each eighth has its share.
        for part in 0..<8 {
            let range = (128_000 + part * 16_000)..<(128_000 + (part + 1) * 16_000)
            #expect((80...170).contains(pauses.count { range.contains(Int($0)) }), "\(part)")
        }
    }

    @Test func `a pause that the channel requests is never shortened, and bounded`() throws {
        let pauses = try (0..<1000).map { try #require(policy.pause(after: 1, of: id($0), spent: 0, request: 60_000)) }
        #expect(pauses.allSatisfy { (60_000..<75_000).contains($0) } && Set(pauses).count > 900)
        let long = try #require(policy.pause(after: 1, of: id(1), spent: 0, request: .max))
        #expect((3_600_000..<4_500_000).contains(long))
        let own = policy.pause(after: 1, of: id(1), spent: 0, request: nil)
        #expect(policy.pause(after: 1, of: id(1), spent: 0, request: -5) == own)
    }

    @Test func `attempts and age end it`() throws {
        #expect(policy.pause(after: 999, of: id(1), spent: 0, request: nil) != nil)
        #expect(policy.pause(after: 1000, of: id(1), spent: 0, request: nil) == nil)
        let age = policy.age
        #expect(policy.pause(after: 50, of: id(1), spent: age - 300_001, request: nil) != nil)
        #expect(policy.pause(after: 50, of: id(1), spent: age - 100_000, request: nil) == nil)
        #expect(policy.pause(after: 50, of: id(1), spent: 0, request: age) != nil, "a request is bounded first")
    }

    @Test func `by default, a day of failures takes a few hundred attempts`() throws {
        var (spent, attempts) = (Int64(0), 1)
        while let pause = policy.pause(after: attempts, of: id(1), spent: spent, request: nil) {
            spent += pause
            attempts += 1
        }
        #expect((300...600).contains(attempts) && spent > policy.age - 600_000)
    }

    private func problems(_ yaml: String) throws -> [String] {
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        _ = RetryPolicy(settings: &settings)
        do throws(ServiceSettingsError) {
            try settings.finish()
            return []
        } catch {
            return error.problems.map(\.key)
        }
    }

    @Test func `its settings have limits`() throws {
        let yaml = "retry: {attempts: 5, age: 1h, first-pause: 2s, longest-pause: 1m, longest-request: 10m}"
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        let retry = RetryPolicy(settings: &settings)
        try settings.finish()
        #expect(retry.attempts == 5 && retry.age == 3_600_000 && retry.firstPause == 2_000)
        #expect(retry.longestPause == 60_000 && retry.longestRequest == 600_000)
        #expect(try problems("retry: {attempts: 0}") == ["retry.attempts"])
        #expect(try problems("retry: {first-pause: 0s, age: -1s}") == ["retry.age", "retry.first-pause"])
    }
}
