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
