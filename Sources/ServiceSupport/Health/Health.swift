import Synchronization

/// Whether the service can do its work (readiness) and whether it makes sense to keep it running (liveness).
///
/// They answer different questions. Not ready: send it no work, wait. Not live: restart it. So a broker that is away makes a
/// service not ready, and never not live, since a restart would not bring the broker back. A thread that does not come round
/// any more makes it not live.
public final class Health: Sendable {
    /// What one component says.
    public struct Report: Sendable, Hashable {
        /// The component's name.
        public var component: String
        /// Why it is not ready, or not live, in words for an operator.
        public var why: String
    }

    private struct State {
        var components: [HealthComponent] = []
        var liveChecks: [(name: String, check: @Sendable () -> String?)] = []
    }

    /// How long a thread that beats may stay away, when nothing else is said.
    public static let defaultStallTimeout = Duration.seconds(120)

    private let state = Mutex(State())
    private let stallTimeout: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Without components it is ready and live.
    ///
    /// - Parameters:
    ///   - stallTimeout: How long a component that beats may go without, until it is not live.
    ///   - now: The clock of the beats.
    public init(
        stallTimeout: Duration = defaultStallTimeout,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.stallTimeout = stallTimeout
        self.now = now
    }

    /// Adds a component, not ready ("starting") until it says otherwise.
    ///
    /// - Parameter name: What `/health/ready` calls it: `kafka`, `lane-0`. Two components may share a name; both count.
    public func component(_ name: String) -> HealthComponent {
        let component = HealthComponent(name: name, now: now)
        state.withLock { $0.components.append(component) }
        return component
    }

    /// Adds a check of life: something in the process itself that only a restart mends, such as a thread that ended.
    ///
    /// - Parameters:
    ///   - name: What `/health/live` calls it.
    ///   - check: Returns nil while all is well, else why not. Called for every probe: it must be quick and not block.
    public func liveCheck(_ name: String, _ check: @escaping @Sendable () -> String?) {
        state.withLock { $0.liveChecks.append((name, check)) }
    }

    /// Whether each component is ready; of those with one name, whether all are.
    public var readiness: [String: Bool] {
        let components = state.withLock { $0.components }
        return Dictionary(components.map { ($0.name, $0.status == .ready) }) { $0 && $1 }
    }

    /// Every component that is not ready; empty means ready.
    public var notReady: [Report] {
        state.withLock { $0.components }.compactMap { component in
            guard case .notReady(let why) = component.status else { return nil }
            return Report(component: component.name, why: why)
        }
    }

    /// What components say beside: they work, and an operator should know that something is not as it should be.
    public var remarks: [Report] {
        state.withLock { $0.components }.compactMap { component in
            component.remark.map { Report(component: component.name, why: $0) }
        }
    }

    /// Every check of life that failed, and every thread that has not come round for the stall timeout; empty means live.
    public var notLive: [Report] {
        let (components, checks) = state.withLock { ($0.components, $0.liveChecks) }
        let stalled = components.compactMap { component -> Report? in
            guard let silence = component.silence, silence > stallTimeout else { return nil }
            let why = "its thread has not come round for \(silence.components.seconds) s"
            return Report(component: component.name, why: why)
        }
        return stalled
            + checks.compactMap { name, check in
                check().map { Report(component: name, why: $0) }
            }
    }
}

/// What a component can say of its readiness.
public enum HealthStatus: Sendable, Hashable {
    /// It does its work.
    case ready
    /// It does not, and why, in words for an operator.
    case notReady(String)
}

/// One part of a service that can be ready or not. Any thread may report.
public final class HealthComponent: Sendable {
    /// What `/health/ready` calls it.
    public let name: String

    private let current = Mutex(HealthStatus.notReady("starting"))
    private let beside = Mutex<String?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant
    private let made: ContinuousClock.Instant
    /// Nanoseconds after it was made; negative while nobody watches.
    private let lastBeat = Atomic<Int64>(-1)

    init(name: String, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.name = name
        self.now = now
        made = now()
    }

    // MARK: - Life

    /// Says that the thread behind it has come round. From the first beat on it is watched: however long it waits for something,
    /// it beats meanwhile.
    public func beat() {
        let (seconds, attoseconds) = (now() - made).components
        lastBeat.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }

    /// The thread has ended in order, and is watched no more.
    public func rest() {
        lastBeat.store(-1, ordering: .relaxed)
    }

    /// Since the last beat; nil while nobody watches.
    var silence: Duration? {
        let last = lastBeat.load(ordering: .relaxed)
        guard last >= 0 else { return nil }
        let age: Duration = now() - made
        return age - Duration.nanoseconds(last)
    }

    // MARK: - Readiness

    /// What was said last.
    public var status: HealthStatus {
        current.withLock { $0 }
    }

    /// Says that it does its work.
    public func ready() {
        report(.ready)
    }

    /// Says that it does not.
    ///
    /// - Parameter why: In words for an operator: `no partition assigned`.
    public func notReady(_ why: String) {
        report(.notReady(why))
    }

    /// What is remarked.
    public var remark: String? {
        beside.withLock { $0 }
    }

    /// Remarks something that makes it neither ready nor not: it works, with less than it should have.
    ///
    /// - Parameter text: In words for an operator; nil when all is as it should be.
    public func remark(_ text: String?) {
        beside.withLock { $0 = text }
    }

    /// Says either.
    public func report(_ status: HealthStatus) {
        current.withLock { $0 = status }
    }
}
