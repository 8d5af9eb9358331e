package import Hummingbird
import NIOCore

/// An authorized call, before its body is read.
package struct Call: Sendable {
    package let request: Request
    package let target: RequestTarget
    package let caller: Caller
    /// The application that `?application=` names, else the default one. The handler reads the query's parameters to
    /// refuse wrong ones.
    package let application: String
    /// Whether the caller's token is not good for the application: only where the route hides it
    /// (``Route/Scope/hiddenApplication``).
    package let isOfOtherApplication: Bool
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
        try path.parameter(name, in: target)
    }
}

extension RoutePath {
    /// As ``Call/parameter(_:)``.
    func parameter(_ name: String, in target: RequestTarget) throws -> String {
        guard let index = index(of: name), target.segments.indices.contains(index) else {
            throw Call.UndeclaredParameter(name: name, path: text)
        }
        return try RequestTarget.decode(target.segments[index], field: name)
    }
}
