import CRDKafka
import Dispatch
import Foundation
import Logging
import Synchronization

/// A configuration that this process owns until a client takes it.
struct RDKafkaConf: ~Copyable {
    private var pointer: OpaquePointer?

    init() { pointer = rd_kafka_conf_new() }

    deinit {
        if let pointer { rd_kafka_conf_destroy(pointer) }
    }

    /// - Parameter isQuoting: whether the error may quote the value or its beginning, as librdkafka does.
    /// - Throws: `KafkaError` that names the property and gives librdkafka's reason.
    private func set(_ name: String, _ value: String, isQuoting: Bool) throws(KafkaError) {
        var text = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(pointer, name, value, &text, text.count)
        guard result != RD_KAFKA_CONF_OK else { return }
        let words = Self.text(text)
        // This message names what the library was built without, never the value.
        let isShown = result == RD_KAFKA_CONF_UNKNOWN || isQuoting || words.contains("not supported in this build")
        let said = isShown ? words : "the value is not valid"
        throw KafkaError(code: .invalidArgument, reason: "kafka property \(name): \(said)")
    }

    /// - Throws: `KafkaError` that names the first invalid property. If any property is a secret, the error shows no
    ///   value: what looks like another property may be the part of a password after a comma.
    func set(_ properties: [(name: String, value: String)]) throws(KafkaError) {
        let isQuoting = !properties.contains { Self.isSecret($0.name) }
        for (name, value) in properties { try set(name, value, isQuoting: isQuoting) }
    }

    /// Creates a client without brokers and frees it: librdkafka judges some properties only together, and reads the files of
    /// TLS.
    static func check(
        _ properties: [(name: String, value: String)],
        _ type: rd_kafka_type_t
    ) throws(KafkaError) {
        let conf = RDKafkaConf()
        try conf.set(properties.filter { !brokers.contains($0.name) })
        rd_kafka_conf_set_log_cb(conf.pointer, nil)
        do throws(KafkaError) {
            // Without brokers it has nothing to connect to, and its threads end at once.
            rd_kafka_destroy_flags(try conf.makeClient(type), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        } catch {
            throw hidingSecrets(in: error, of: properties)
        }
    }

    private static let brokers: Set<String> = ["bootstrap.servers", "metadata.broker.list"]

    /// The error without the values of secret properties.
    static func hidingSecrets(
        in error: KafkaError,
        of properties: [(name: String, value: String)]
    ) -> KafkaError {
        var shown = error
        for (name, value) in properties where isSecret(name) && !value.isEmpty {
            shown.reason = shown.reason.replacingOccurrences(of: value, with: "(hidden)")
        }
        return shown
    }

    /// Whether a property of this name exists.
    static func knows(_ name: String) -> Bool {
        guard !name.utf8.contains(0) else { return false }
        let conf = RDKafkaConf()
        return rd_kafka_conf_set(conf.pointer, name, "", nil, 0) != RD_KAFKA_CONF_UNKNOWN
    }

    static func isSecret(_ name: String) -> Bool {
        ["password", "secret", "key.pem", "ssl_key", "oauthbearer.config", "token", "kinit.cmd"].contains {
            name.contains($0)
        }
    }

    private static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// For settings without a property: callbacks, the opaque pointer, events.
    func withPointer(_ body: (OpaquePointer?) -> Void) { body(pointer) }

    /// Creates the client, which owns the configuration from then on.
    consuming func makeClient(_ type: rd_kafka_type_t) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 512)
        guard let client = rd_kafka_new(type, pointer, &text, text.count) else {
            let reason = "librdkafka rejected the configuration: \(Self.text(text))"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
        pointer = nil
        return client
    }
}

/// Owns one `rd_kafka_t` and the context of its callbacks; nothing else frees them.
final class RDKafkaHandle: Sendable {
    // librdkafka's handle may be used from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer
    // Used by callbacks, and released once, after the client is freed.
    private nonisolated(unsafe) let context: Unmanaged<RDKafkaContext>
    private let state = Mutex((isDestroyed: false, withoutClosing: false, users: 0))
    /// Signalled when the client is freed.
    private let freed = DispatchSemaphore(value: 0)

    private static let isVersionLogged = Atomic(false)

    /// - Parameters:
    ///   - properties: in the order in which they are set, so that a later alias overrides an earlier one.
    ///   - prepare: sets callbacks and events on the configuration.
    init(
        _ type: rd_kafka_type_t,
        properties: [(name: String, value: String)],
        context: RDKafkaContext,
        prepare: (OpaquePointer?) -> Void
    ) throws(KafkaError) {
        let conf = RDKafkaConf()
        try conf.set(properties)
        let retained = Unmanaged.passRetained(context)
        conf.withPointer { pointer in
            rd_kafka_conf_set_opaque(pointer, retained.toOpaque())
            rd_kafka_conf_set_log_cb(pointer) { client, level, facility, text in
                RDKafkaContext.of(client)?.log(level: level, facility: facility, text: text)
            }
            prepare(pointer)
        }
        do throws(KafkaError) {
            pointer = try conf.makeClient(type)
        } catch {
            retained.release()
            throw RDKafkaConf.hidingSecrets(in: error, of: properties)
        }
        self.context = retained
        if !Self.isVersionLogged.exchange(true, ordering: .relaxed) {
            // The workarounds here are for 2.0.2 and are harmless in later versions.
            let version = String(cString: rd_kafka_version_str())
            context.logger.info("kafka client library", metadata: ["librdkafka": "\(version)"])
        }
    }

    /// Uses the client from a thread that does not own it; the client is not freed meanwhile.
    func use<Result>(_ body: () throws(KafkaError) -> Result) throws(KafkaError) -> Result {
        let isUsable = state.withLock { state in
            if !state.isDestroyed { state.users += 1 }
            return !state.isDestroyed
        }
        guard isUsable else { throw KafkaError(code: .destroyed, reason: "the client is shut down") }
        defer {
            let isLast = state.withLock { state in
                state.users -= 1
                return state.isDestroyed && state.users == 0
            }
            if isLast { free() }
        }
        return try body()
    }

    /// Frees the client, or lets its last user free it; blocks on a dedicated thread. Later calls do nothing.
    func destroy(withoutClosingConsumer: Bool = false) {
        let isFree = state.withLock { state in
            guard !state.isDestroyed else { return false }
            state.isDestroyed = true
            state.withoutClosing = withoutClosingConsumer
            return state.users == 0
        }
        if isFree { free() }
    }

    /// The same on a thread that the caller may stop waiting for: freeing waits for librdkafka's threads, and one of
    /// them may be resolving a host name.
    ///
    /// - Parameter first: runs on that thread before the client is freed.
    /// - Returns: false when time ran out; the thread continues in the background.
    @discardableResult
    func destroyElsewhere(
        within time: Duration,
        withoutClosingConsumer: Bool = false,
        first: @escaping @Sendable () -> Void = {}
    ) -> Bool {
        Thread.detachNewThread { [self] in
            first()
            destroy(withoutClosingConsumer: withoutClosingConsumer)
        }
        guard time > .zero else { return false }
        return freed.wait(timeout: .now() + .milliseconds(Int(time.librdkafkaMilliseconds))) == .success
    }

    private func free() {
        let flags = state.withLock { $0.withoutClosing } ? RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE : 0
        rd_kafka_destroy_flags(pointer, flags)
        context.release()
        freed.signal()
    }

    deinit {
        // The owner released it without closing: free it on another thread, because freeing blocks.
        guard !state.withLock({ $0.isDestroyed }) else { return }
        nonisolated(unsafe) let (pointer, context) = (pointer, context)
        Thread.detachNewThread {
            rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
            context.release()
        }
    }

    /// The fatal error of the client; nil while it works.
    var fatalError: KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaError(
            code: KafkaError.Code(rawValue: code.rawValue),
            reason: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self),
            isFatal: true
        )
    }

    /// For tests: raises a fatal error as an idempotent producer can.
    func failForTest(_ reason: String) {
        rd_kafka_test_fatal_error(pointer, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, reason)
    }

    /// The value of a property, defaults included.
    func property(_ name: String) -> String? {
        var text = [CChar](repeating: 0, count: 512)
        var count = text.count
        guard rd_kafka_conf_get(rd_kafka_conf(pointer), name, &text, &count) == RD_KAFKA_CONF_OK else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The object behind the configuration's opaque pointer, for librdkafka's callbacks.
class RDKafkaContext {
    /// librdkafka says it at each attempt, of each client.
    private static let unresolvable = "Failed to resolve"
    private static let resolution = RepeatedLines()

    let logger: Logger
    private let lastTrouble = Mutex<[KafkaError.Code: ContinuousClock.Instant]>([:])

    init(logger: Logger) { self.logger = logger }

    /// Logs errors that librdkafka recovers from itself, each code at most every 10 s. Called on any thread.
    final func noteTrouble(_ error: KafkaError) {
        KafkaClientErrors.count(error.code)
        let isNews = lastTrouble.withLock { last in
            let now = ContinuousClock.now
            if let then = last[error.code], now - then < .seconds(10) { return false }
            last[error.code] = now
            return true
        }
        guard isNews else { return }
        // librdkafka raises these for planned and idle disconnects too, and logs the actual failure itself.
        let level: Logger.Level =
            switch error.code {
            case .resolve: .debug
            case .allBrokersDown, .transport: .info
            default: .warning
            }
        logger.log(level: level, "kafka trouble", metadata: ["error": "\(error)"])
    }

    static func of(_ client: OpaquePointer?) -> RDKafkaContext? {
        guard let client, let opaque = rd_kafka_opaque(client) else { return nil }
        return Unmanaged<RDKafkaContext>.fromOpaque(opaque).takeUnretainedValue()
    }

    /// Called on any of librdkafka's threads.
    final func log(level: Int32, facility: UnsafePointer<CChar>?, text: UnsafePointer<CChar>?) {
        let swiftLevel: Logger.Level =
            switch level {
            case ...2: .critical
            case 3: .error
            case 4: .warning
            case 5: .notice
            case 6: .info
            default: .debug
            }
        let line = text.map { String(cString: $0) } ?? ""
        if line.contains(Self.unresolvable), !Self.resolution.isDue(line, at: .now) { return }
        logger.log(
            level: swiftLevel,
            "librdkafka: \(line)",
            metadata: ["facility": "\(facility.map { String(cString: $0) } ?? "")"]
        )
    }
}

extension Duration {
    /// Whole milliseconds for librdkafka, rounded up; never negative, never its value for "infinite".
    var librdkafkaMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return Int32.max - 1 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(max(0, milliseconds.partialValue + fraction), Int64(Int32.max - 1)))
    }
}
