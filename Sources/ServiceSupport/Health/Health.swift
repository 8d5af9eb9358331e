import Synchronization

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

    /// The default time without a beat after which a thread counts as stalled.
    public static let defaultStallTimeout = Duration.seconds(120)

    private let state = Mutex(State())
    private let stallTimeout: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Without components it is ready and live.
    ///
    /// - Parameters:
    ///   - stallTimeout: How long a component with beats may go without one before it is not live.
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
    /// Nanoseconds since its creation; negative while it is not watched.
    private let lastBeat = Atomic<Int64>(-1)

    init(name: String, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.name = name
        self.now = now
        made = now()
    }

    // MARK: - Liveness

    /// Reports progress of the component's thread. The first beat starts the supervision: from then on the thread must
    /// beat even while it waits.
    public func beat() {
        let (seconds, attoseconds) = (now() - made).components
        lastBeat.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }

    /// Ends the supervision: the thread has ended normally.
    public func rest() {
        lastBeat.store(-1, ordering: .relaxed)
    }

    /// Time since the last beat; nil while it is not watched.
    var silence: Duration? {
        let last = lastBeat.load(ordering: .relaxed)
        guard last >= 0 else { return nil }
        let age: Duration = now() - made
        return age - Duration.nanoseconds(last)
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
