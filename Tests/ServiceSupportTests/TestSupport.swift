import Synchronization

/// Something that happened or not, for any thread.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// Lines that were written, from any thread.
final class Lines: Sendable {
    private let all = Mutex<[String]>([])

    var written: [String] { all.withLock { $0 } }

    func append(_ line: String) { all.withLock { $0.append(line) } }
}
