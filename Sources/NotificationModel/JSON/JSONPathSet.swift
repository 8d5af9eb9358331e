/// Paths into JSON texts, all looked up in one pass over the bytes that builds nothing.
///
/// A step names a member of an object, or an element of an array in decimal without leading zeros. Of members with the
/// same name the last counts.
public struct JSONPathSet: Sendable, Hashable {
    fileprivate struct Child: Hashable {
        var name: [UInt8]
        var index: Int?
        var node: Int
    }

    private struct Node: Hashable {
        /// The number of the path that ends here.
        var path: Int?
        var children: [Child] = []
    }

    /// A tree of steps, its root first.
    private var nodes = [Node()]
    /// The number of different paths.
    public private(set) var count = 0

    /// No paths.
    public init() {}

    /// Adds a path unless it exists.
    ///
    /// - Parameter path: Its steps; no steps mean the whole text. Steps beyond ``ModelLimits/depth`` match nothing.
    /// - Returns: The path's number, the index of its match.
    public mutating func insert(_ path: [String]) -> Int {
        var node = 0
        for step in path.prefix(ModelLimits.depth + 1) {
            let name = Array(step.utf8)
            if let child = nodes[node].children.first(where: { $0.name == name }) {
                node = child.node
                continue
            }
            let index = Int(step).flatMap { $0 >= 0 && String($0) == step ? $0 : nil }
            nodes.append(Node())
            nodes[node].children.append(Child(name: name, index: index, node: nodes.count - 1))
            node = nodes.count - 1
        }
        if let known = nodes[node].path { return known }
        nodes[node].path = count
        count += 1
        return count - 1
    }

    /// Scans a whole text, checks its grammar, and records the values at the paths.
    ///
    /// - Parameters:
    ///   - bytes: The text; white space around the value is allowed.
    ///   - matches: One per path, in the order of their numbers; each is set.
    /// - Throws: As ``JSONValue/parse(_:maximumDepth:)-([UInt8],_)``.
    public func find(
        in bytes: UnsafeRawBufferPointer,
        into matches: UnsafeMutableBufferPointer<JSONMatch>
    ) throws(ModelError) {
        matches.initialize(repeating: .missing)
        var scanner = JSONScanner(bytes)
        try scanner.whole { scanner throws(ModelError) in try find(0, &scanner, matches) }
    }

    private func find(
        _ node: Int,
        _ scanner: inout JSONScanner,
        _ matches: UnsafeMutableBufferPointer<JSONMatch>
    ) throws(ModelError) {
        let start = scanner.position
        let kind: JSONMatch.Kind
        switch scanner.peek() {
        case 0x22:
            let text = try scanner.text()
            note(node, JSONMatch(.string, text.start, text.end, isEscaped: text.isEscaped), matches)
            return
        case 0x7B:
            kind = .object
            try findInObject(node, &scanner, matches)
        case 0x5B:
            kind = .array
            try findInArray(node, &scanner, matches)
        case 0x6E:
            kind = .null
            try scanner.skipValue()
        case 0x74:
            kind = .true
            try scanner.skipValue()
        case 0x66:
            kind = .false
            try scanner.skipValue()
        default:
            kind = .number
            try scanner.skipValue()
        }
        note(node, JSONMatch(kind, start, scanner.position), matches)
    }

    private func findInObject(
        _ node: Int,
        _ scanner: inout JSONScanner,
        _ matches: UnsafeMutableBufferPointer<JSONMatch>
    ) throws(ModelError) {
        guard !nodes[node].children.isEmpty else { return try scanner.skipValue() }
        try scanner.object { scanner, name throws(ModelError) in
            guard let child = child(of: node, named: name, scanner) else { return try scanner.skipValue() }
            // An earlier member with this name may have left matches.
            clear(child, matches)
            try find(child, &scanner, matches)
        }
    }

    private func findInArray(
        _ node: Int,
        _ scanner: inout JSONScanner,
        _ matches: UnsafeMutableBufferPointer<JSONMatch>
    ) throws(ModelError) {
        guard nodes[node].children.contains(where: { $0.index != nil }) else { return try scanner.skipValue() }
        try scanner.array { scanner, index throws(ModelError) in
            guard let child = nodes[node].children.first(where: { $0.index == index }) else {
                return try scanner.skipValue()
            }
            try find(child.node, &scanner, matches)
        }
    }

    @inline(__always)
    private func child(of node: Int, named name: JSONStringToken, _ scanner: JSONScanner) -> Int? {
        if name.isEscaped {
            let text = scanner.unescaped(name)
            return nodes[node].children.first { $0.name == text }?.node
        }
        let bytes = UnsafeRawBufferPointer(rebasing: scanner.bytes[name.start..<name.end])
        for index in nodes[node].children.indices where nodes[node].children[index].isNamed(bytes) {
            return nodes[node].children[index].node
        }
        return nil
    }

    @inline(__always)
    private func note(_ node: Int, _ match: JSONMatch, _ matches: UnsafeMutableBufferPointer<JSONMatch>) {
        guard let path = nodes[node].path, path < matches.count else { return }
        matches[path] = match
    }

    private func clear(_ node: Int, _ matches: UnsafeMutableBufferPointer<JSONMatch>) {
        note(node, .missing, matches)
        for index in nodes[node].children.indices { clear(nodes[node].children[index].node, matches) }
    }
}

extension JSONPathSet.Child {
    @inline(__always)
    fileprivate func isNamed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard name.count == bytes.count else { return false }
        for index in 0..<bytes.count where name[index] != bytes[index] { return false }
        return true
    }
}
