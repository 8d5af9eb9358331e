/// The maximum record size: the producer's `message.max.bytes`, and how librdkafka counts a record's size.
///
/// Besides key, value, and names and values of headers, librdkafka counts the overhead of the record format (version
/// 2). The 36 bytes per record are librdkafka's figure. The 10 bytes per header are two lengths at their maximum, while
/// librdkafka counts their actual size. So a record that fits here also fits there.
public struct RecordBound: Sendable, Hashable {
    /// `message.max.bytes`.
    public let bytes: Int

    /// Bytes of a record besides key, value and headers.
    public static let recordOverhead = 36
    /// Bytes of a header besides its name and value.
    public static let headerOverhead = 10
    /// Bytes that a changelog entry, an event or a request may need besides contents, including its key. Most of it is
    /// for 128 closed ids of 128 bytes in the changelog, each of which JSON escaping may double.
    public static let aroundContent = 56 * 1024
    /// The smallest limit that the services support: everything without content fits, and so do small contents.
    public static let least = 64 * 1024

    /// The limit of a producer with this `message.max.bytes`.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// The counted size of a record; headers are given by their number and the bytes of all names and values.
    public static func size(key: Int, value: Int, headers: Int, headerBytes: Int) -> Int {
        recordOverhead + key + value + headers * headerOverhead + headerBytes
    }

    /// The counted size of a record.
    public static func size(key: [UInt8]?, value: [UInt8]?, headers: [(name: String, value: [UInt8]?)]) -> Int {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        return size(key: key?.count ?? 0, value: value?.count ?? 0, headers: headers.count, headerBytes: bytes)
    }

    /// The largest content, in bytes, of a request whose events and entries fit; at most the limit of a request.
    ///
    /// - Parameter contents: how many contents an entry may hold at once: two if one can be pending while another is
    ///   being sent.
    public func content(contents: Int = 1) -> Int {
        min(ModelLimits.requestBytes, max(0, bytes - Self.aroundContent) / contents)
    }

    /// Throws `too-large` when the records for a request with this content would not fit.
    public func check(content: Int, contents: Int = 1) throws(ModelError) {
        let most = self.content(contents: contents)
        guard content > most else { return }
        throw ModelError(
            .tooLarge,
            field: "content",
            "has \(content) bytes, at most \(most) fit in a record (message.max.bytes is \(bytes))"
        )
    }

    /// Throws `too-large` with both sizes for a larger record.
    ///
    /// - Parameters:
    ///   - size: in bytes, as ``size(key:value:headers:)`` counts.
    ///   - field: of the error.
    ///   - what: the kind of record, for the beginning of the detail.
    public func check(_ size: Int, field: String? = nil, _ what: String) throws(ModelError) {
        guard size > bytes else { return }
        throw ModelError(
            .tooLarge,
            field: field,
            "\(what) needs a record of \(size) bytes, at most \(bytes) are allowed (message.max.bytes)"
        )
    }
}
