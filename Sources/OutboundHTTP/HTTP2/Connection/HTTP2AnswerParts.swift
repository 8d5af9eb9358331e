import NIOCore
import NIOHPACK

/// An answer that is not whole yet.
struct HTTP2AnswerParts {
    /// What is wrong with it: the stream ends, the connection does not.
    enum Problem: Error, Hashable {
        /// RFC 9113, section 8.1.1.
        case malformed
        case tooLarge
    }

    /// 0 before the head of the answer.
    private(set) var status = 0
    private(set) var headers = HPACKHeaders()
    private(set) var body = ByteBuffer()

    /// The head, one of an interim answer, or the fields after the body.
    mutating func add(_ fields: HPACKHeaders, isLast: Bool) throws(Problem) {
        guard status == 0 else {
            guard isLast else { throw .malformed }
            return
        }
        guard let first = fields.first, first.name == ":status", let status = Int(first.value),
            (100..<600).contains(status)
        else { throw .malformed }
        guard status >= 200 else {
            guard !isLast else { throw .malformed }
            return
        }
        (self.status, headers) = (status, fields)
    }

    /// - Parameter bound: The most bytes of the body.
    mutating func add(_ bytes: ByteBuffer, bound: Int) throws(Problem) {
        guard status > 0 else { throw .malformed }
        guard bytes.readableBytes > 0 else { return }
        guard body.readableBytes + bytes.readableBytes <= bound else { throw .tooLarge }
        body.writeImmutableBuffer(bytes)
    }

    /// Checks that the body is as long as it should be.
    func finish() throws(Problem) {
        guard status > 0 else { throw .malformed }
        guard status != 304 else { return }
        for field in headers where field.name == "content-length" && Int(field.value) != body.readableBytes {
            throw .malformed
        }
    }
}

extension HPACKHeaders {
    /// Whether they can be sent: no character that would end a field, or begin another one, where they are written as
    /// HTTP/1.1 (RFC 9113, section 8.2.1).
    var areSendable: Bool {
        for field in self {
            guard Self.isSendable(name: field.name), Self.isSendable(value: field.value) else { return false }
        }
        return true
    }

    // Without branches, so that the compiler compares many bytes at once.

    private static func isSendable(name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            var wrong: UInt8 = 0
            // Visible ASCII without capitals; a colon only at the beginning.
            let visible = bytes.dropFirst(bytes.first == UInt8(ascii: ":") ? 1 : 0)
            for byte in visible {
                wrong |= (byte <= 0x20 ? 1 : 0) | (byte >= 0x7F ? 1 : 0) | (byte == UInt8(ascii: ":") ? 1 : 0)
                wrong |= byte &- 0x41 < 26 ? 1 : 0
            }
            return wrong == 0 && !visible.isEmpty
        }
    }

    private static func isSendable(value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            var wrong: UInt8 = 0
            for byte in bytes { wrong |= (byte == 0 ? 1 : 0) | (byte == 0x0A ? 1 : 0) | (byte == 0x0D ? 1 : 0) }
            func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
            return wrong == 0 && !isBlank(bytes.first) && !isBlank(bytes.last)
        }
    }
}
