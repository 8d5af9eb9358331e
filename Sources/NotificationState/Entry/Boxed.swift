/// A value that few owners have, in memory of its own: one that has none, or is moved, costs one word. A copy shares it until
/// one of them changes.
@propertyWrapper
package struct Boxed<Value: Sendable & Hashable>: Sendable, Hashable {
    private final class Memory: @unchecked Sendable {
        // Nil only while it is being changed.
        var value: Value?

        init(_ value: Value) { self.value = value }
    }

    // Changed only where nobody else refers to it.
    private var memory: Memory?

    package init() {}

    package init(wrappedValue: Value?) { memory = wrappedValue.map(Memory.init) }

    package var wrappedValue: Value? {
        get { memory?.value }
        set {
            guard let newValue else { return memory = nil }
            if memory != nil, isKnownUniquelyReferenced(&memory) {
                memory?.value = newValue
            } else {
                memory = Memory(newValue)
            }
        }
        _modify {
            var changed = takeOut()
            defer { wrappedValue = changed.take() }
            yield &changed
        }
    }

    /// Whether there is a value; copies nothing of it.
    package var isPresent: Bool { memory != nil }

    private mutating func takeOut() -> Value? {
        guard memory != nil, isKnownUniquelyReferenced(&memory) else { return memory?.value }
        return memory?.value.take()
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.memory === other.memory || one.wrappedValue == other.wrappedValue
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
