/// A bad day: what happens to the requests that it concerns.
package protocol SimulatedFault: Sendable {
    associatedtype Request
    associatedtype Effect: Sendable

    var effect: Effect { get }
    /// Of an effect that is a delay only: others may follow.
    var delay: Duration? { get }
    /// After that many requests it is over; nil for no end.
    var remaining: Int? { get set }
    /// The share of the requests that it concerns, 0 to 1, decided for each.
    var share: Double { get }

    /// Whether a request is one of those that it can concern.
    func concerns(_ request: Request) -> Bool
}

/// The faults in force, by name.
package struct NamedFaults<Fault: SimulatedFault>: Sendable {
    /// More are refused.
    package static var capacity: Int { 1_000 }

    /// In the order in which they were set.
    package private(set) var named: [(name: String, fault: Fault)] = []

    package init() {}

    package var isEmpty: Bool { named.isEmpty }

    package mutating func set(_ name: String, _ fault: Fault) throws(SimulatorError) {
        if let index = named.firstIndex(where: { $0.name == name }) {
            named[index].fault = fault
        } else {
            guard named.count < Self.capacity else {
                throw SimulatorError("there are \(Self.capacity) faults already: clear some")
            }
            named.append((name, fault))
        }
    }

    /// - Returns: False when there is none with this name.
    package mutating func clear(_ name: String) -> Bool {
        guard let index = named.firstIndex(where: { $0.name == name }) else { return false }
        named.remove(at: index)
        return true
    }

    package mutating func clear() { named = [] }

    /// What happens to a request: the first fault that concerns it, and all delays before it.
    package mutating func effects(
        on request: Fault.Request,
        using generator: inout some RandomNumberGenerator
    ) -> (delay: Duration, effect: Fault.Effect?) {
        var delay = Duration.zero
        for index in named.indices {
            let fault = named[index].fault
            if let remaining = fault.remaining, remaining <= 0 { continue }
            guard fault.concerns(request) else { continue }
            guard fault.share >= 1 || Double.random(in: 0..<1, using: &generator) < fault.share else { continue }
            if let remaining = fault.remaining { named[index].fault.remaining = remaining - 1 }
            guard let time = fault.delay else { return (delay, fault.effect) }
            delay += time
        }
        return (delay, nil)
    }
}
