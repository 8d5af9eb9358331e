/// How large a record may be: the producer's `message.max.bytes`, and what librdkafka counts against it.
///
/// Besides key, value and the names and values of headers it counts what the record format (version 2) takes around them. The
/// 36 bytes of a record are librdkafka's own figure; the 10 of a header are two lengths at their longest, where it counts
/// what they really take. So what fits here fits there.
public struct RecordBound: Sendable, Hashable {
    /// `message.max.bytes`.
    public let bytes: Int

    /// Bytes of a record besides key, value and headers.
    public static let recordOverhead = 36
    /// Bytes of a header besides its name and value.
    public static let headerOverhead = 10
    /// Bytes that an entry of the changelog, an event or a request may take besides contents, its key among them: 128 closed
    /// ids of 128 bytes in the changelog, each of which JSON may double, are most of it.
    public static let aroundContent = 56 * 1024
    /// The least that the services work with: everything without content fits, and small contents do.
    public static let least = 64 * 1024

    /// The bound of a producer with that `message.max.bytes`.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// What is counted of a record; of headers their number, and the bytes of all names and values.
    public static func size(key: Int, value: Int, headers: Int, headerBytes: Int) -> Int {
        recordOverhead + key + value + headers * headerOverhead + headerBytes
    }

    /// What is counted of a record.
    public static func size(key: [UInt8]?, value: [UInt8]?, headers: [(name: String, value: [UInt8]?)]) -> Int {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        return size(key: key?.count ?? 0, value: value?.count ?? 0, headers: headers.count, headerBytes: bytes)
    }

    /// Bytes of the content of a request whose events and entries fit, at most those of a request.
    ///
    /// - Parameter contents: how many an entry may hold at one time: two when one can wait while a channel has another.
    public func content(contents: Int = 1) -> Int {
        min(ModelLimits.requestBytes, max(0, bytes - Self.aroundContent) / contents)
    }

    /// Throws `too-large` for a content of so many bytes that what is made of its request would not fit.
    public func check(content: Int, contents: Int = 1) throws(ModelError) {
        let most = self.content(contents: contents)
        guard content > most else { return }
        throw ModelError(
            .tooLarge,
            field: "content",
            "has \(content) bytes, at most \(most) have room in records (message.max.bytes is \(bytes))"
        )
    }

    /// Throws `too-large` with both numbers when a record has more.
    ///
    /// - Parameter what: what the record is, at the beginning of the detail.
    public func check(_ size: Int, field: String? = nil, _ what: String) throws(ModelError) {
        guard size > bytes else { return }
        throw ModelError(
            .tooLarge,
            field: field,
            "\(what) takes \(size) bytes as a record, at most \(bytes) are possible (message.max.bytes)"
        )
    }
}
