package import Hummingbird
import NIOCore

/// An authorized call, before its body is read.
package struct Call: Sendable {
    package let request: Request
    package let target: RequestTarget
    let path: RoutePath
    let channel: any Channel

    /// The address of the client, or of the proxy before it; nil when the system does not tell.
    package var client: String? { channel.remoteAddress?.ipAddress }

    /// The handler asks for a parameter that its route does not declare.
    struct UndeclaredParameter: Error, CustomStringConvertible {
        var name: String
        var path: String
        var description: String { "\(path) has no parameter \(name)" }
    }

    /// A path parameter, percent-decoded once.
    ///
    /// - Throws: `ModelError` with the parameter's name as field for an invalid escape or text that is not UTF-8.
    package func parameter(_ name: String) throws -> String {
        guard let index = path.index(of: name), target.segments.indices.contains(index) else {
            throw UndeclaredParameter(name: name, path: path.text)
        }
        return try RequestTarget.decode(target.segments[index], field: name)
    }
}
