import Configuration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The settings of a service: environment variables over one YAML file.
///
/// A key is written with dots, `http.port`. In the file it is `http: {port: 8080}`, in the environment `CARILLON_HTTP_PORT`
/// (upper case, a word boundary of `camelCase` and everything that is not a letter or digit become `_`).
/// A variable wins over the file. Every key is declared by reading it; what stays undeclared is an error:
///
///     var settings = try ServiceSettings(environment: environment, file: "carillon.yaml")
///     let port = settings.int("http.port", default: 8080, in: 0...65535)
///     let drain = settings.duration("shutdown.timeout", default: .seconds(25), in: .zero ... .seconds(600))
///     try settings.finish()
///
/// Nothing throws while keys are read. A bad value is noted, the default is returned, and ``finish()`` names every problem at once,
/// so use what was read only after it.
public struct ServiceSettings: Sendable {
    /// What every environment variable begins with.
    public static let variablePrefix = "CARILLON_"

    /// Every key read so far, in the order of reading, once each: the source for a table in the documentation.
    public private(set) var declaredKeys: [DeclaredSetting] = []

    private let environment: EnvironmentVariablesProvider
    private let variables: [String]
    let file: SettingsFile
    private var declaredByKey: [String: Int] = [:]
    /// Keys of another service that reads the same file.
    private var foreign: [String] = []
    private var problems: [ServiceSettingsError.Problem] = []

    /// Reads the settings file and takes the variables.
    ///
    /// - Parameters:
    ///   - environment: The process environment; only names that begin with `CARILLON_` are looked at.
    ///   - file: The path of a YAML file, or nil for none.
    /// - Throws: ``ServiceSettingsError`` when the file cannot be read, is not YAML (with the line), is not a map,
    ///   or has a key twice.
    public init(environment: [String: String], file: String?) throws(ServiceSettingsError) {
        self.init(environment: environment, file: try file.map(SettingsFile.init(path:)) ?? SettingsFile())
    }

    /// The same from text that is at hand.
    ///
    /// - Parameters:
    ///   - environment: As above.
    ///   - yaml: The text of the settings file.
    ///   - name: What error messages call it.
    /// - Throws: As above.
    public init(environment: [String: String], yaml: String, named name: String) throws(ServiceSettingsError) {
        self.init(environment: environment, file: try SettingsFile(text: yaml, name: name))
    }

    /// Nothing is given.
    init() {
        self.init(environment: [:], file: SettingsFile())
    }

    private init(environment: [String: String], file: SettingsFile) {
        let ours = environment.filter { $0.key.hasPrefix(Self.variablePrefix) }
        self.environment = EnvironmentVariablesProvider(environmentVariables: ours)
        self.variables = ours.keys.sorted()
        self.file = file
    }

    /// Notes a problem that only the reader of a setting can see, such as a file that is not there or two settings that exclude
    /// each other. ``finish()`` reports it with the others.
    ///
    /// - Parameters:
    ///   - key: A key that was read.
    ///   - why: What is wrong and what is allowed, without the key.
    public mutating func reject(_ key: String, _ why: String) {
        note(.init(key: key, source: lookup(key)?.source ?? .nowhere, message: why))
    }

    /// Passes over keys, and their variables, that another service reads from the same file; their values are not looked at.
    ///
    /// - Parameter keys: With dots; those that are read here as well do no harm.
    mutating func passOver(_ keys: [String]) {
        foreign += keys
    }

    /// Ends reading. Nothing may be used before this returns.
    ///
    /// - Throws: One ``ServiceSettingsError`` that names every unknown key, unknown variable and bad value.
    public func finish() throws(ServiceSettingsError) {
        let all = problems + unknownEntries() + unknownVariables()
        if !all.isEmpty {
            throw ServiceSettingsError(problems: all)
        }
    }

    // MARK: - What the typed readers are made of

    /// A value as it was written, and where.
    struct Found {
        var content: Content
        var source: ServiceSettingsError.Source

        enum Content {
            case text(String)
            case items([String])
            case nothing
        }
    }

    mutating func declare(_ setting: DeclaredSetting) {
        guard declaredByKey[setting.key] == nil else { return }
        declaredByKey[setting.key] = declaredKeys.count
        declaredKeys.append(setting)
    }

    mutating func note(_ problem: ServiceSettingsError.Problem) {
        // Two services of one process may read the same key; it is one mistake.
        if !problems.contains(problem) {
            problems.append(problem)
        }
    }

    func lookup(_ key: String) -> Found? {
        if let (name, text) = variable(key) {
            return Found(content: .text(text), source: .variable(name))
        }
        return file.value(key).map { Found(content: $0.content, source: file.source(line: $0.line)) }
    }

    func variable(_ key: String) -> (name: String, text: String)? {
        // The provider reads text without conversion, so it has no error to throw.
        guard let found = try? environment.value(forKey: Self.variableKey(key), type: .string),
            case .string(let text)? = found.value?.content
        else { return nil }
        return (found.encodedKey, text)
    }

    /// The name of a key's environment variable, by the provider's own rule.
    static func variableName(_ key: String) -> String {
        let nothing = EnvironmentVariablesProvider(environmentVariables: [:])
        let found = try? nothing.value(forKey: variableKey(key), type: .string)
        return found?.encodedKey ?? key
    }

    private static func variableKey(_ key: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(["carillon"] + key.split(separator: ".").map(String.init))
    }

    // MARK: - What nobody declared

    private var knownKeys: [String] {
        declaredKeys.map(\.key) + foreign.filter { declaredByKey[$0] == nil }
    }

    private func unknownEntries() -> [ServiceSettingsError.Problem] {
        let known = knownKeys
        return file.entries.compactMap { entry in
            if declaredByKey[entry.key] != nil || foreign.contains(entry.key) { return nil }
            let sections = declaredKeys.filter { entry.key.hasPrefix($0.key + ".") }
            if sections.contains(where: { $0.kind == .map }) { return nil }
            let within = known.filter { $0.hasPrefix(entry.key + ".") }
            if entry.isNull && !within.isEmpty { return nil }
            let message: String
            if let scalar = sections.first {
                message = "is not a key: \(scalar.key) takes \(scalar.allowed), not a map"
            } else if !within.isEmpty {
                message = "is a map of settings, not a value; its keys: \(within.joined(separator: ", "))"
            } else {
                message = Self.unknown(entry.key, among: known, what: "key")
            }
            return .init(key: entry.key, source: file.source(line: entry.line), message: message)
        }
    }

    private func unknownVariables() -> [ServiceSettingsError.Problem] {
        let known = knownKeys.map(Self.variableName)
        return variables.filter { !known.contains($0) }.map { name in
            .init(key: name, source: .environment, message: Self.unknown(name, among: known, what: "variable"))
        }
    }

    private static func unknown(_ name: String, among known: [String], what: String) -> String {
        guard let near = Spelling.nearest(to: name, among: known) else {
            return "is not a \(what) that is known here"
        }
        return "is not a \(what) that is known here; did you mean \(near)?"
    }
}
