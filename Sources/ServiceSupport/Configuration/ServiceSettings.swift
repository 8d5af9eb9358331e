import Configuration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The settings of a service: environment variables over one YAML file.
///
/// A key is written with dots, `http.port`. In the file it is `http: {port: 8080}`, in the environment
/// `CARILLON_HTTP_PORT` (upper case; a word boundary of `camelCase` and every character that is not a letter or digit
/// become `_`). A variable overrides the file. Reading a key declares it; undeclared keys are an error:
///
///     var settings = try ServiceSettings(environment: environment, file: "carillon.yaml")
///     let port = settings.int("http.port", default: 8080, in: 0...65535)
///     let drain = settings.duration("shutdown.timeout", default: .seconds(25), in: .zero ... .seconds(600))
///     try settings.finish()
///
/// Reading a key never throws. An invalid value is recorded and the default returned; ``finish()`` reports all problems
/// at once, so use the values only after it.
public struct ServiceSettings: Sendable {
    /// Prefix of all environment variables.
    public static let variablePrefix = "CARILLON_"

    /// Every key read so far, in order and once each: the source for a table in the documentation.
    public private(set) var declaredKeys: [DeclaredSetting] = []

    private let environment: EnvironmentVariablesProvider
    private let variables: [String]
    let file: SettingsFile
    private var declaredByKey: [String: Int] = [:]
    /// Keys of another service that reads the same file.
    private var foreign: [String] = []
    /// Variables of another program, which are no keys.
    private var foreignVariables: Set<String> = []
    private var problems: [ServiceSettingsError.Problem] = []
    /// The values that were given, in their normal form, and where.
    private(set) var valuesRead: [String: (value: SettingInForce.Value, source: SettingInForce.Source)] = [:]
    /// The same of maps, by the names of their entries.
    private(set) var entriesRead: [String: [String: (value: String, source: SettingInForce.Source)]] = [:]

    /// Reads the settings file and the variables.
    ///
    /// - Parameters:
    ///   - environment: The process environment; only names that begin with `CARILLON_` are used.
    ///   - file: The path of a YAML file, or nil for none.
    /// - Throws: ``ServiceSettingsError`` when the file cannot be read, is not YAML (with the line), is not a map, or
    ///   repeats a key.
    public init(environment: [String: String], file: String?) throws(ServiceSettingsError) {
        self.init(environment: environment, file: try file.map(SettingsFile.init(path:)) ?? SettingsFile())
    }

    /// The same from text in memory.
    ///
    /// - Parameters:
    ///   - environment: As above.
    ///   - yaml: The text of the settings file.
    ///   - name: The file's name in error messages.
    /// - Throws: As above.
    public init(environment: [String: String], yaml: String, named name: String) throws(ServiceSettingsError) {
        self.init(environment: environment, file: try SettingsFile(text: yaml, name: name))
    }

    /// No settings.
    init() {
        self.init(environment: [:], file: SettingsFile())
    }

    private init(environment: [String: String], file: SettingsFile) {
        let ours = environment.filter { $0.key.hasPrefix(Self.variablePrefix) }
        self.environment = EnvironmentVariablesProvider(environmentVariables: ours)
        self.variables = ours.keys.sorted()
        self.file = file
    }

    /// Records a problem that only the reader of a setting can find, for example a missing file or two settings that
    /// exclude each other. ``finish()`` reports it with the others.
    ///
    /// - Parameters:
    ///   - key: A key that was read.
    ///   - why: What is wrong and what is allowed, without the key.
    public mutating func reject(_ key: String, _ why: String) {
        note(.init(key: key, source: lookup(key)?.source ?? .nowhere, message: why))
    }

    /// The keys that a reader declares.
    package static func keys(of read: (inout ServiceSettings) -> Void) -> [String] {
        var settings = ServiceSettings()
        read(&settings)
        return settings.declaredKeys.map(\.key)
    }

    /// Ignores keys, and their variables, that another service reads from the same file; their values are not checked.
    ///
    /// - Parameter keys: With dots; they may include keys that this service reads too.
    mutating func passOver(_ keys: [String]) {
        foreign += keys
    }

    /// Ignores variables that another program reads.
    mutating func passOver(variables names: [String]) {
        foreignVariables.formUnion(names)
    }

    /// Ends reading. Do not use any value before this returns.
    ///
    /// - Throws: One ``ServiceSettingsError`` with every unknown key, unknown variable and invalid value.
    public func finish() throws(ServiceSettingsError) {
        try finish { _ in true }
    }

    /// The same for a reader of some sections: the other keys and variables are not checked.
    ///
    /// - Parameter sections: Keys, or their first words: `egress`.
    /// - Throws: As ``finish()``.
    package func finish(sections: [String]) throws(ServiceSettingsError) {
        let variables = sections.map(Self.variableName)
        try finish { problem in
            sections.contains { problem.key == $0 || problem.key.hasPrefix("\($0).") }
                || variables.contains { problem.key == $0 || problem.key.hasPrefix("\($0)_") }
        }
    }

    private func finish(_ matters: (ServiceSettingsError.Problem) -> Bool) throws(ServiceSettingsError) {
        let all = (problems + unknownEntries() + unknownVariables()).filter(matters)
        if !all.isEmpty {
            throw ServiceSettingsError(problems: all)
        }
    }

    // MARK: - Parts of the typed readers

    /// A value as written, with its source.
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

    mutating func keep(_ value: SettingInForce.Value, of key: String, from source: ServiceSettingsError.Source) {
        valuesRead[key] = (value, SettingInForce.Source(source))
    }

    mutating func keep(_ value: String, of name: String, in key: String, from source: ServiceSettingsError.Source) {
        entriesRead[key, default: [:]][name] = (value, SettingInForce.Source(source))
    }

    mutating func note(_ problem: ServiceSettingsError.Problem) {
        // Two services of one process may read the same key; report the mistake once.
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
        // The provider reads text without conversion and so never throws.
        guard let found = try? environment.value(forKey: Self.variableKey(key), type: .string),
            case .string(let text)? = found.value?.content
        else { return nil }
        return (found.encodedKey, text)
    }

    /// The name of a key's environment variable, by the provider's rule.
    static func variableName(_ key: String) -> String {
        let nothing = EnvironmentVariablesProvider(environmentVariables: [:])
        let found = try? nothing.value(forKey: variableKey(key), type: .string)
        return found?.encodedKey ?? key
    }

    private static func variableKey(_ key: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(["carillon"] + key.split(separator: ".").map(String.init))
    }

    // MARK: - Undeclared keys

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
        let known = knownKeys.map(Self.variableName) + foreignVariables.sorted()
        return variables.filter { !known.contains($0) }.map { name in
            .init(key: name, source: .environment, message: Self.unknown(name, among: known, what: "variable"))
        }
    }

    private static func unknown(_ name: String, among known: [String], what: String) -> String {
        guard let near = Spelling.nearest(to: name, among: known) else {
            return "is not a known \(what)"
        }
        return "is not a known \(what); did you mean \(near)?"
    }
}
