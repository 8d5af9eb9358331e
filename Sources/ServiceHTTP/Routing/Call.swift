package import Hummingbird

/// A call that may be made, its body still to come.
package struct Call: Sendable {
    package let request: Request
    package let target: RequestTarget
    let path: RoutePath

    /// The route does not declare the parameter that its handler asks for.
    struct UndeclaredParameter: Error, CustomStringConvertible {
        var name: String
        var path: String
        var description: String { "\(path) has no parameter \(name)" }
    }

    /// A parameter of the path, percent-decoded once.
    ///
    /// - Throws: `ModelError` with the parameter's name as field when the escape is wrong or the text is not UTF-8.
    package func parameter(_ name: String) throws -> String {
        guard let index = path.index(of: name), target.segments.indices.contains(index) else {
            throw UndeclaredParameter(name: name, path: path.text)
        }
        return try RequestTarget.decode(target.segments[index], field: name)
    }
}
