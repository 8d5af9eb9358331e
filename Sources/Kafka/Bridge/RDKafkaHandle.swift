import CRDKafka
import Foundation
import Logging
import Synchronization

/// A configuration that is ours until a client takes it.
struct RDKafkaConf: ~Copyable {
    private var pointer: OpaquePointer?

    init() { pointer = rd_kafka_conf_new() }

    deinit {
        if let pointer { rd_kafka_conf_destroy(pointer) }
    }

    /// - Throws: `KafkaError` that names the property and says what librdkafka makes of it; never the value.
    func set(_ name: String, _ value: String) throws(KafkaError) {
        var text = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(pointer, name, value, &text, text.count)
        guard result != RD_KAFKA_CONF_OK else { return }
        let said = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let shown = said.contains(value) && Self.isSecret(name) ? "the value is not usable" : said
        throw KafkaError(code: .invalidArgument, reason: "kafka property \(name): \(shown)")
    }

    private static func isSecret(_ name: String) -> Bool {
        ["password", "secret", "key.pem", "oauthbearer.config", "token"].contains { name.contains($0) }
    }

    /// For what only has a call of its own: callbacks, the opaque, events.
    func withPointer(_ body: (OpaquePointer?) -> Void) { body(pointer) }

    /// Makes the client, which owns the configuration from then on.
    consuming func makeClient(_ type: rd_kafka_type_t) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 512)
        guard let client = rd_kafka_new(type, pointer, &text, text.count) else {
            let said = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw KafkaError(code: .invalidArgument, reason: "librdkafka refused the configuration: \(said)")
        }
        pointer = nil
        return client
    }
}

/// Owns one `rd_kafka_t` and what its callbacks need; the one place where either is freed.
final class RDKafkaHandle: Sendable {
    // librdkafka's handle may be used from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer
    private nonisolated(unsafe) let context: Unmanaged<RDKafkaContext>
    private let state = Mutex((isDestroyed: false, withoutClosing: false, users: 0))

    /// - Parameter prepare: sets callbacks and events on the configuration.
    init(
        _ type: rd_kafka_type_t,
        properties: [String: String],
        context: RDKafkaContext,
        prepare: (OpaquePointer?) -> Void
    ) throws(KafkaError) {
        let conf = RDKafkaConf()
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) { try conf.set(name, value) }
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
            throw error
        }
        self.context = retained
    }

    /// Uses the client from a thread that does not own it: it is not freed meanwhile.
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

    /// Frees the client, or lets its last user do so; blocking, on a thread of ours. Later calls do nothing.
    func destroy(withoutClosingConsumer: Bool = false) {
        let isFree = state.withLock { state in
            guard !state.isDestroyed else { return false }
            state.isDestroyed = true
            state.withoutClosing = withoutClosingConsumer
            return state.users == 0
        }
        if isFree { free() }
    }

    private func free() {
        let flags = state.withLock { $0.withoutClosing } ? RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE : 0
        rd_kafka_destroy_flags(pointer, flags)
        context.release()
    }

    deinit {
        // Forgotten by its owner: freed off whatever thread this is, for it blocks.
        guard !state.withLock({ $0.isDestroyed }) else { return }
        nonisolated(unsafe) let (pointer, context) = (pointer, context)
        Thread.detachNewThread {
            rd_kafka_destroy_flags(pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
            context.release()
        }
    }
}

/// What librdkafka's callbacks find behind the configuration's opaque pointer.
class RDKafkaContext {
    let logger: Logger

    init(logger: Logger) { self.logger = logger }

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
        logger.log(
            level: swiftLevel,
            "librdkafka: \(text.map { String(cString: $0) } ?? "")",
            metadata: ["facility": "\(facility.map { String(cString: $0) } ?? "")"]
        )
    }
}

extension Duration {
    /// Whole milliseconds as librdkafka takes them, rounded up, never negative and never its "for ever".
    var librdkafkaMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return Int32.max - 1 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(max(0, milliseconds.partialValue + fraction), Int64(Int32.max - 1)))
    }
}
