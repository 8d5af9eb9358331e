import Configuration
import Foundation
import Yams

/// One YAML file: its keys with their lines, and swift-configuration's snapshot, which reads the values.
///
/// The snapshot cannot list its keys, which is needed to find unknown ones.
struct SettingsFile: Sendable {
    /// A leaf of the file: a key with a value.
    struct Entry: Sendable {
        var key: String
        var line: Int?
        var isList: Bool
        var isNull: Bool
    }

    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20

    let name: String
    let entries: [Entry]
    private let byKey: [String: Entry]
    private let snapshot: YAMLSnapshot?

    /// No file.
    init() {
        self.init(name: "")
    }

    init(path: String) throws(ServiceSettingsError) {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            data = try file.read(upToCount: Self.maximumBytes + 1) ?? Data()
        } catch {
            let why = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "does not exist"
            throw Self.problem(path, nil, "the settings file \(why)")
        }
        guard data.count <= Self.maximumBytes else {
            throw Self.problem(path, nil, "the settings file has more than \(Self.maximumBytes) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Self.problem(path, nil, "the settings file is not UTF-8")
        }
        try self.init(text: text, name: path)
    }

    init(text: String, name: String) throws(ServiceSettingsError) {
        guard let root = try Self.parse(text, name: name), !root.isNullScalar else {
            self.init(name: name)
            return
        }
        guard case .mapping(let mapping) = root else {
            throw Self.problem(name, root.mark?.line, "the settings file is not a map of keys at its top")
        }
        var entries: [Entry] = []
        try Self.collect(mapping, prefix: "", name: name, into: &entries)
        var byKey: [String: Entry] = [:]
        for entry in entries {
            // Finds `http.port: 1` next to `http: {port: 2}`; the parser finds only literal repetitions.
            if let first = byKey.updateValue(entry, forKey: entry.key) {
                let earlier = first.line.map { " (first on line \($0))" } ?? ""
                throw Self.problem(name, entry.line, "appears twice\(earlier)", key: entry.key)
            }
        }
        let snapshot: YAMLSnapshot
        do {
            let bytes = Array(text.utf8)
            snapshot = try YAMLSnapshot(data: bytes.span.bytes, providerName: name, parsingOptions: .default)
        } catch {
            throw Self.problem(name, nil, "the settings file cannot be used: \(error)")
        }
        self.init(name: name, entries: entries, byKey: byKey, snapshot: snapshot)
    }

    private init(
        name: String,
        entries: [Entry] = [],
        byKey: [String: Entry] = [:],
        snapshot: YAMLSnapshot? = nil
    ) {
        self.name = name
        self.entries = entries
        self.byKey = byKey
        self.snapshot = snapshot
    }

    func source(line: Int?) -> ServiceSettingsError.Source {
        .file(name, line: line)
    }

    /// The value of a key as text or as list items; nil when the file does not have it.
    func value(_ key: String) -> (content: ServiceSettings.Found.Content, line: Int?)? {
        guard let entry = byKey[key] else { return nil }
        let path = AbsoluteConfigKey(key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        let content = try? snapshot?.value(forKey: path, type: entry.isList ? .stringArray : .string).value?.content
        return switch content {
        case .string(let text)? where !entry.isNull: (.text(text), entry.line)
        case .stringArray(let items)?: (.items(items), entry.line)
        default: (.nothing, entry.line)
        }
    }

    /// Every leaf below a key: the entries of a map whose own keys may contain dots.
    func entries(below key: String) -> [(name: String, content: ServiceSettings.Found.Content, line: Int?)] {
        entries.filter { $0.key.hasPrefix(key + ".") }.compactMap { entry in
            value(entry.key).map { (String(entry.key.dropFirst(key.count + 1)), $0.content, $0.line) }
        }
    }

    // MARK: - Reading

    private static func parse(_ text: String, name: String) throws(ServiceSettingsError) -> Node? {
        do {
            if let mark = try YAMLBounds.excess(in: text) { throw problem(name, mark.line, YAMLBounds.message) }
            return try Yams.compose(yaml: text)
        } catch let error as ServiceSettingsError {
            throw error
        } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
            let line = context.mark.line
            throw problem(name, line, "appears twice in one map", key: duplicates.joined(separator: ", "))
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            throw Self.problem(name, mark.line, "the settings file is not YAML: \(problem)")
        } catch {
            // Other errors quote the text, which may contain secrets.
            throw problem(name, nil, "the settings file is not YAML")
        }
    }

    private static func collect(
        _ mapping: Node.Mapping,
        prefix: String,
        name: String,
        into entries: inout [Entry]
    ) throws(ServiceSettingsError) {
        for (keyNode, value) in mapping {
            let line = keyNode.mark?.line
            guard let key = keyNode.scalar?.string, !key.isEmpty else {
                throw problem(name, line, "a key must be a word")
            }
            let path = prefix.isEmpty ? key : "\(prefix).\(key)"
            switch value {
            case .mapping(let inner):
                try collect(inner, prefix: path, name: name, into: &entries)
            case .sequence(let items):
                guard items.allSatisfy({ $0.scalar != nil }) else {
                    throw problem(name, line, "has a list or map inside a list; items must be single values", key: path)
                }
                entries.append(Entry(key: path, line: line, isList: true, isNull: false))
            case .scalar:
                entries.append(Entry(key: path, line: line, isList: false, isNull: value.isNullScalar))
            case .alias:
                throw problem(name, line, "refers to an unknown anchor", key: path)
            }
        }
    }

    private static func problem(_ name: String, _ line: Int?, _ message: String, key: String = "")
        -> ServiceSettingsError
    {
        ServiceSettingsError(.init(key: key, source: .file(name, line: line), message: message))
    }
}

extension Node {
    /// `key:`, `key: ~` or `key: null`, but not `key: ""`.
    fileprivate var isNullScalar: Bool {
        guard case .scalar = self else { return false }
        return tag == Tag(.null)
    }
}
