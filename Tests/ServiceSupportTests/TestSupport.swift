import Synchronization

/// A flag that any thread may set.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// Collects lines from any thread.
final class Lines: Sendable {
    private let all = Mutex<[String]>([])

    var written: [String] { all.withLock { $0 } }

    func append(_ line: String) { all.withLock { $0.append(line) } }
}
