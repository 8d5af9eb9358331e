import NotificationModel
import Synchronization
import Testing

@testable import NotificationEnrichment

/// Time that passes only when a test says so.
final class StageTime: Sendable {
    private struct State {
        var now: ContinuousClock.Instant
        var lastNumber = 0
        var sleepers: [Int: (end: ContinuousClock.Instant, continuation: CheckedContinuation<Void, Never>)] = [:]
        var cancelled: Set<Int> = []
        var awaited: [CheckedContinuation<Void, Never>] = []
    }

    let start: ContinuousClock.Instant
    private let state: Mutex<State>

    init() {
        start = ContinuousClock.now
        state = Mutex(State(now: start))
    }

    var clock: EnrichmentClock {
        EnrichmentClock(now: { self.state.withLock { $0.now } }, sleep: { try await self.sleep($0) })
    }

    /// Lets time pass, as soon as something sleeps: the stage waits with a timer then.
    func pass(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.sleepers.isEmpty { state.awaited.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isReady { continuation.resume() }
        }
        let woken: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.now = state.now.advanced(by: time)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(_ time: Duration) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumed: [CheckedContinuation<Void, Never>] = state.withLock { state in
                    if state.cancelled.contains(number) { return [continuation] }
                    state.sleepers[number] = (state.now.advanced(by: time), continuation)
                    defer { state.awaited = [] }
                    return state.awaited
                }
                for continuation in resumed { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}

/// Something that happens once. Waiting for it ignores cancellation, as bad work does.
final class Signal: Sendable {
    private let state = Mutex<(isGiven: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func give() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isGiven = state.withLock { state in
                if !state.isGiven { state.waiting.append(continuation) }
                return state.isGiven
            }
            if isGiven { continuation.resume() }
        }
    }
}

/// Returns when its task is cancelled.
func untilCancelled() async {
    let never = Signal()
    await withTaskCancellationHandler {
        await never.wait()
    } onCancel: {
        never.give()
    }
}

/// Does what a test says.
struct ScriptedEnricher: Enricher {
    let name: String
    let script: @Sendable (EnrichmentDraft, EnrichmentInput) async -> EnricherOutcome

    init(
        _ name: String,
        _ script: @escaping @Sendable (EnrichmentDraft, EnrichmentInput) async -> EnricherOutcome
    ) {
        (self.name, self.script) = (name, script)
    }

    /// Adds its name to the body.
    static func marking(_ name: String) -> ScriptedEnricher {
        ScriptedEnricher(name) { draft, _ in
            draft.update { $0.content.body = ($0.content.body ?? "") + " " + name }
            return .applied
        }
    }

    func enrich(_ draft: EnrichmentDraft, for input: EnrichmentInput) async -> EnricherOutcome {
        await script(draft, input)
    }
}

enum Sample {
    static let content = NotificationContent(title: "Hello", body: "text", mutableContent: true)

    /// A notification that has ten seconds.
    static func input(_ content: NotificationContent = content, at time: StageTime) -> EnrichmentInput {
        EnrichmentInput(
            application: "shop",
            recipient: "user-42",
            identifier: "order-1001",
            requestID: "r-1",
            content: content.json,
            deadline: time.start.advanced(by: .seconds(10)),
            neededUntil: 1_000
        )
    }

    /// Runs a chain in its text form.
    static func run(
        _ chain: String,
        _ enrichers: [any Enricher],
        _ content: NotificationContent = content,
        _ time: StageTime = StageTime()
    ) async throws -> EnrichmentResult {
        let chains = EnrichmentChains(standard: try EnrichmentChain(text: chain))
        let stage = try EnrichmentStage(chains: chains, enrichers: enrichers, clock: time.clock)
        return await stage.run(input(content, at: time))
    }
}

extension EnrichmentResult {
    /// The content to deliver; nil for the original or none.
    var content: NotificationContent? {
        guard case .enriched(let json) = verdict else { return nil }
        return try? NotificationContent(json: json)
    }

    /// `name: outcome (reason)` of each enricher.
    var steps: [String] {
        summary.enrichers.map { step in
            let outcome =
                switch step.outcome {
                case .applied: "applied"
                case .failed: "failed"
                case .timedOut: "timed-out"
                case .skipped: "skipped"
                }
            return step.reason.map { "\(step.name): \(outcome) (\($0))" } ?? "\(step.name): \(outcome)"
        }
    }
}
