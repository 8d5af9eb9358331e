package import NIOCore
package import NIOHPACK

/// A connection of a pool; a number is not used twice.
package struct HTTP2ConnectionID: Hashable, Sendable, CustomStringConvertible {
    package let number: Int

    package var description: String { "connection \(number)" }
}

/// A whole answer over HTTP/2.
package struct HTTP2Answer: OutboundAnswer {
    /// 200 to 599.
    package let status: Int
    /// The fields, `:status` included; at most 16 KiB.
    package let headers: HPACKHeaders
    /// At most ``HTTP2Pool/Settings/answerBytes``.
    package let body: ByteBuffer
    /// From which it came, for ``HTTP2Pool/retire(_:)``.
    package let connection: HTTP2ConnectionID

    /// The value of the first field with this name.
    ///
    /// - Parameter name: In lower case.
    package func field(_ name: String) -> String? {
        for field in headers where field.name == name { return field.value }
        return nil
    }
}
