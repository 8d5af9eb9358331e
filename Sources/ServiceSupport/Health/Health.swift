import Synchronization
import NotificationModel

/// Whether the service can work (readiness) and whether it should keep running (liveness).
///
/// Not ready: send it no work, and wait. Not live: restart it. An unreachable broker makes a service not ready, but
/// never not live, because a restart would not bring the broker back. A stalled thread makes it not live.
public final class Health: Sendable {
    /// The status of one component.
    public struct Report: Sendable, Hashable {
        /// The component's name.
        public var component: String
        /// Why it is not ready, or not live, for an operator.
        public var why: String
    }

    private struct State {
        var components: [HealthComponent] = []
    }

    /// The default time without a beat after which a supervised thread counts as stalled.
    public static let defaultStallTimeout = Duration.seconds(120)

    private let state = Mutex(State())
    private let stallTimeout: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Without components it is ready and live.
    ///
    /// - Parameters:
    ///   - stallTimeout: How long a supervised component may go without a beat before it is not live.
    ///   - now: The clock of the beats.
    public init(
        stallTimeout: Duration = defaultStallTimeout,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.stallTimeout = stallTimeout
        self.now = now
    }

    /// Adds a component, not ready ("starting") until it reports otherwise.
    ///
    /// - Parameter name: Its name in `/health/ready`: `kafka`, `lane-0`. Two components may share a name; both count.
    public func component(_ name: String) -> HealthComponent {
        let component = HealthComponent(name: name, now: now)
        state.withLock { $0.components.append(component) }
        return component
    }

    /// Whether each component is ready; for components with the same name, whether all are.
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

    /// Remarks of components: they work, but an operator should know about a degradation.
    public var remarks: [Report] {
        state.withLock { $0.components }.compactMap { component in
            component.remark.map { Report(component: component.name, why: $0) }
        }
    }

    /// Every stalled thread; empty means live.
    public var notLive: [Report] {
        state.withLock { $0.components }.compactMap { component in
            guard let silence = component.silence, silence > stallTimeout else { return nil }
            let why = "its thread has made no progress for \(silence.components.seconds) s"
            return Report(component: component.name, why: why)
        }
    }
}

/// The readiness of a component.
public enum HealthStatus: Sendable, Hashable {
    /// The component works.
    case ready
    /// The component does not work, with the reason for an operator.
    case notReady(String)
}

/// A part of a service that can be ready or not. Any thread may report.
public final class HealthComponent: Sendable {
    /// Its name in `/health/ready`.
    public let name: String

    private let current = Mutex(HealthStatus.notReady("starting"))
    private let beside = Mutex<String?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant
    private let made: ContinuousClock.Instant
    /// Nanoseconds since its creation.
    private let lastBeat = Atomic<Int64>(0)
    /// How many bodies of ``supervised(_:)`` run, one within the other.
    private let supervisions = Atomic<Int>(0)

    init(name: String, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.name = name
        self.now = now
        made = now()
    }

    // MARK: - Liveness

    /// Runs work under supervision: from now on until its end the thread must beat, even while it waits. Supervision always
    /// ends with the work, so that a thread that has ended never counts as stalled.
    ///
    /// - Parameter work: Runs on the calling thread; may be supervised itself.
    public func supervised<Result>(_ work: () throws -> Result) rethrows -> Result {
        beat()
        supervisions.add(1, ordering: .releasing)
        defer {
            beat()
            supervisions.subtract(1, ordering: .releasing)
        }
        return try work()
    }

    /// Reports progress of the component's thread; without effect outside of ``supervised(_:)``.
    public func beat() {
        lastBeat.store((now() - made).nanoseconds, ordering: .relaxed)
    }

    /// Time since the last beat; nil while it is not supervised.
    var silence: Duration? {
        guard supervisions.load(ordering: .acquiring) > 0 else { return nil }
        let age: Duration = now() - made
        return age - Duration.nanoseconds(lastBeat.load(ordering: .relaxed))
    }

    // MARK: - Readiness

    /// The last reported status.
    public var status: HealthStatus {
        current.withLock { $0 }
    }

    /// Reports that it works.
    public func ready() {
        report(.ready)
    }

    /// Reports that it does not work.
    ///
    /// - Parameter why: The reason for an operator: `no partition assigned`.
    public func notReady(_ why: String) {
        report(.notReady(why))
    }

    /// The current remark.
    public var remark: String? {
        beside.withLock { $0 }
    }

    /// Sets a remark that does not affect readiness: the component works, but degraded.
    ///
    /// - Parameter text: For an operator; nil to clear it.
    public func remark(_ text: String?) {
        beside.withLock { $0 = text }
    }

    /// Reports a status.
    public func report(_ status: HealthStatus) {
        current.withLock { $0 = status }
    }
}
