import NotificationModel
import PushSimulation
import Synchronization

/// Sends the page what phones show, and the steps of notifications, as they happen. Each reader gets what there is, and
/// then the changes, as server-sent events.
final class PhoneFeed: Sendable {
    /// Steps that are kept for readers that come later.
    static let keptSteps = 2_000
    /// Pages that may read at one time.
    static let mostReaders = 16
    /// Messages that wait for a slow reader; at more it is cut off, and begins again.
    static let waitingMessages = 2_000

    /// What the steps and the phones come from.
    enum Source: String, CaseIterable, Sendable {
        case kafka, apns, fcm
    }

    struct Reader: Sendable {
        let number: Int
        let messages: AsyncStream<[UInt8]>
    }

    private struct State {
        var last = 0
        var steps: [(number: Int, message: [UInt8])] = []
        var phones: [PhoneID: PhoneState] = [:]
        var problems: [Source: String] = [:]
        var readers: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var lastReader = 0
    }

    private let state = Mutex(State())
    /// Steps are counted from the beginning of this process: another one's numbers mean nothing here.
    private let epoch: String
    private let sources: [Source]

    /// - Parameters:
    ///   - sources: those that there are.
    ///   - epoch: another text for each process.
    init(_ sources: [Source], epoch: String) {
        (self.sources, self.epoch) = (sources, epoch)
        state.withLock { $0.problems = Dictionary(uniqueKeysWithValues: sources.map { ($0, "not read yet") }) }
    }

    // MARK: - What happens

    func add(_ steps: [JSONValue]) {
        state.withLock { state in
            for step in steps {
                state.last += 1
                let message = Self.message("step", step, id: "\(epoch)-\(state.last)")
                state.steps.append((state.last, message))
                if state.steps.count > Self.keptSteps { state.steps.removeFirst(Self.keptSteps / 10) }
                Self.send(message, &state)
            }
        }
    }

    /// The phones of a platform are these now.
    func set(_ phones: [PhoneState], of platform: PhoneID.Platform) {
        state.withLock { state in
            let new = Dictionary(phones.map { ($0.id, $0) }) { first, _ in first }
            for id in state.phones.keys where id.platform == platform && new[id] == nil {
                state.phones[id] = nil
                Self.send(Self.message("gone", .object(of: id.members)), &state)
            }
            for (id, phone) in new {
                guard let change = phone.change(since: state.phones[id]) else { continue }
                state.phones[id] = phone
                Self.send(Self.message("phone", change), &state)
            }
        }
    }

    /// - Parameter problem: why it cannot be read; nil when it can.
    func set(_ source: Source, problem: String?) {
        state.withLock { state in
            guard state.problems[source] != problem else { return }
            state.problems[source] = problem
            Self.send(message(state.problems), &state)
        }
    }

    /// A phone, as it was seen last.
    subscript(id: PhoneID) -> PhoneState? { state.withLock { $0.phones[id] } }

    // MARK: - Readers

    /// Begins to read.
    ///
    /// - Parameter lastID: of the last step that the reader has; nil for none.
    /// - Returns: nil when there are too many.
    func begin(after lastID: String?) -> Reader? {
        state.withLock { state -> Reader? in
            guard state.readers.count < Self.mostReaders else { return nil }
            state.lastReader += 1
            let number = state.lastReader
            let (stream, continuation) = AsyncStream.makeStream(
                of: [UInt8].self,
                bufferingPolicy: .bufferingOldest(Self.waitingMessages + Self.keptSteps)
            )
            state.readers[number] = continuation
            let known = lastID.flatMap { $0.hasPrefix("\(epoch)-") ? Int($0.dropFirst(epoch.count + 1)) : nil }
            continuation.yield(
                Self.message("begin", .object([.init("again", .bool(known != nil))])) + message(state.problems)
            )
            for phone in state.phones.values.sorted(by: { $0.id.simulated < $1.id.simulated }) {
                if let all = phone.change(since: nil) { continuation.yield(Self.message("phone", all)) }
            }
            for step in state.steps where step.number > known ?? 0 { continuation.yield(step.message) }
            return Reader(number: number, messages: stream)
        }
    }

    /// Whether one more may read.
    var hasRoom: Bool { state.withLock { $0.readers.count < Self.mostReaders } }

    /// Says to a reader that nothing happens: so that both ends see that the other one is there.
    func beat(_ reader: Reader) {
        state.withLock { state in _ = state.readers[reader.number]?.yield(Array(": quiet\n\n".utf8)) }
    }

    func end(_ reader: Reader) {
        let continuation = state.withLock { $0.readers.removeValue(forKey: reader.number) }
        continuation?.finish()
    }

    /// All readers end: the process does.
    func endAll() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return state.readers.values
        }
        for reader in readers { reader.finish() }
    }

    // MARK: - Messages

    private func message(_ problems: [Source: String]) -> [UInt8] {
        Self.message(
            "sources",
            .object(sources.map { .init($0.rawValue, problems[$0].map(JSONValue.string) ?? .bool(true)) })
        )
    }

    private static func send(_ message: [UInt8], _ state: inout State) {
        for (number, reader) in state.readers {
            // A reader that does not keep up loses nothing when it begins again.
            guard case .enqueued = reader.yield(message) else {
                state.readers[number] = nil
                reader.finish()
                continue
            }
        }
    }

    /// JSON has no line breaks of its own, so that one line of data is enough.
    private static func message(_ event: String, _ data: JSONValue, id: String? = nil) -> [UInt8] {
        let head = (id.map { "id: \($0)\n" } ?? "") + "event: \(event)\ndata: "
        return Array(head.utf8) + data.json + Array("\n\n".utf8)
    }
}
