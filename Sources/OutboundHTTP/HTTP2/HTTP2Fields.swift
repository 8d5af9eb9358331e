package import NIOHPACK

/// The fields of a request: those that many requests have, which the compression may put into its table, and its own.
///
/// The own ones are encoded where the request is made, as literals without indexing (RFC 7541, section 6.2.2), because no table has
/// to do with them: the event loop, which all requests of a pool share, copies bytes.
package struct HTTP2Fields: Sendable {
    /// Fields that many requests have. A connection remembers by their identity how it encodes them: make them once.
    package final class Shared: Sendable {
        /// Before the own `:path`.
        let beginning: HPACKHeaders
        /// After it.
        let rest: HPACKHeaders
        let areSendable: Bool

        /// - Parameters:
        ///   - beginning: the pseudo-header fields, `:path` only if all requests have the same; see `HPACKHeaders.pseudo`.
        ///   - rest: other fields, names in lower case.
        package init(_ beginning: HPACKHeaders, _ rest: HPACKHeaders = HPACKHeaders()) {
            (self.beginning, self.rest) = (beginning, rest)
            areSendable = beginning.areSendable && rest.areSendable
        }
    }

    let shared: Shared
    /// The own fields, encoded: `:path` first.
    private(set) var literals: [UInt8] = []
    /// The bytes of `:path`.
    private(set) var pathEnd = 0
    /// Whether they can be sent: no character that would end a field, or begin another one.
    private(set) var areSendable: Bool

    /// - Parameter fields: all, in their order, none of which is known to be shared.
    package init(_ fields: HPACKHeaders) { self.init(Shared(fields)) }

    package init(_ shared: Shared) { (self.shared, areSendable) = (shared, shared.areSendable) }

    /// - Parameters:
    ///   - path: `:path` is this and what follows.
    ///   - size: bytes of the values of own fields for which there is room at first.
    package init(_ shared: Shared, path: StaticString, _ rest: String, size: Int) {
        self.init(shared)
        literals.reserveCapacity(path.utf8CodeUnitCount + rest.utf8.count + size)
        // Its index in the static table.
        literals.append(0x04)
        append(length: path.utf8CodeUnitCount + rest.utf8.count)
        path.withUTF8Buffer { literals.append(contentsOf: $0) }
        append(bytesOf: rest)
        pathEnd = literals.count
    }

    /// Adds `authorization`, after the fields that are shared.
    package mutating func authorize(_ value: String) {
        // Its index in the static table, 23: 15 in the first byte, the rest in the next.
        literals.append(0x0F)
        literals.append(8)
        append(length: value.utf8.count)
        append(bytesOf: value)
    }

    /// Adds a field, after those that are shared.
    ///
    /// - Parameter name: visible ASCII without capitals.
    package mutating func add(_ name: StaticString, _ value: String) {
        literals.append(0)
        append(length: name.utf8CodeUnitCount)
        name.withUTF8Buffer { literals.append(contentsOf: $0) }
        append(length: value.utf8.count)
        append(bytesOf: value)
    }

    /// An integer with a prefix of seven bits (RFC 7541, section 5.1), without the bit of Huffman's code.
    private mutating func append(length: Int) {
        guard length >= 0x7F else { return literals.append(UInt8(length)) }
        literals.append(0x7F)
        var rest = length - 0x7F
        while rest >= 0x80 {
            literals.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        literals.append(UInt8(rest))
    }

    private mutating func append(bytesOf value: String) {
        var value = value
        let isSendable = value.withUTF8 { bytes in
            literals.append(contentsOf: bytes)
            return HPACKHeaders.isSendable(value: bytes[...])
        }
        if !isSendable { areSendable = false }
    }
}

extension HPACKHeaders {
    /// Whether they can be sent: no character that would end a field, or begin another one, where they are written as
    /// HTTP/1.1 (RFC 9113, section 8.2.1).
    fileprivate var areSendable: Bool {
        for field in self {
            var (name, value) = (field.name, field.value)
            guard name.withUTF8({ Self.isSendable(name: $0[...]) }), value.withUTF8({ Self.isSendable(value: $0[...]) })
            else { return false }
        }
        return true
    }

    // Without branches, so that the compiler compares many bytes at once.

    private static func isSendable(name bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var wrong: UInt8 = 0
        // Visible ASCII without capitals; a colon only at the beginning.
        let visible = bytes.dropFirst(bytes.first == UInt8(ascii: ":") ? 1 : 0)
        for byte in visible {
            wrong |= (byte <= 0x20 ? 1 : 0) | (byte >= 0x7F ? 1 : 0) | (byte == UInt8(ascii: ":") ? 1 : 0)
            wrong |= byte &- 0x41 < 26 ? 1 : 0
        }
        return wrong == 0 && !visible.isEmpty
    }

    fileprivate static func isSendable(value bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var wrong: UInt8 = 0
        for byte in bytes { wrong |= (byte == 0 ? 1 : 0) | (byte == 0x0A ? 1 : 0) | (byte == 0x0D ? 1 : 0) }
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        return wrong == 0 && !isBlank(bytes.first) && !isBlank(bytes.last)
    }
}
