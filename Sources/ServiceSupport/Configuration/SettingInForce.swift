import Kafka

/// A setting with the value that is in force, and where that came from.
package struct SettingInForce: Sendable, Hashable {
    /// The source of a value.
    package enum Source: Sendable, Hashable {
        /// The declaration.
        case `default`
        /// A line of the settings file; nil if the parser reports none.
        case file(String, line: Int?)
        /// The named environment variable.
        case variable(String)
    }

    /// A value that can be shown.
    package enum Value: Sendable, Hashable {
        /// Optional, and not set.
        case nothing
        case text(String)
        case integer(Int)
        case boolean(Bool)
        case items([String])
        /// Set, and not shown.
        case secret
    }

    /// The key with dots; for an entry of a map, with its name: `kafka.properties.sasl.username`.
    package var key: String
    package var value: Value
    package var source: Source
}

extension ServiceSettings {
    /// Every declared setting in the order of the keys, without secrets. Use it only after ``finish()``.
    ///
    /// A map has an entry for each of its names. Secret are the properties of Kafka that librdkafka keeps secret, and of URLs the
    /// user information and the query.
    package var inForce: [SettingInForce] {
        declaredKeys.flatMap { setting -> [SettingInForce] in
            if setting.kind == .map {
                return (entriesRead[setting.key] ?? [:]).map { name, entry in
                    let isSecret = KafkaClientConfiguration.isSecret(name)
                    let value = isSecret ? .secret : SettingInForce.Value.text(Self.shown(entry.value))
                    return SettingInForce(key: "\(setting.key).\(name)", value: value, source: entry.source)
                }
            }
            let read = valuesRead[setting.key]
            let value = read?.value ?? setting.defaultValue.map { .text($0) } ?? .nothing
            return [
                SettingInForce(
                    key: setting.key,
                    value: Self.typed(value, setting.kind),
                    source: read?.source ?? .default
                )
            ]
        }
        .sorted { $0.key < $1.key }
    }

    private static func typed(_ value: SettingInForce.Value, _ kind: DeclaredSetting.Kind) -> SettingInForce.Value {
        guard case .text(let text) = value else {
            guard case .items(let items) = value else { return value }
            return .items(items.map(shown))
        }
        return switch kind {
        case .integer: Int(text).map { .integer($0) } ?? value
        case .boolean: .boolean(text == "true")
        case .list: .items(text.split(separator: ",").map(String.init))
        case .text, .duration, .map, .choice: .text(shown(text))
        }
    }

    /// A URL without its user information and its query, which may be secret; any other text unchanged.
    private static func shown(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        var rest = String(text[scheme.upperBound...])
        if let query = rest.firstIndex(of: "?") { rest = rest[..<query] + "?<set>" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@") { rest = "<set>" + rest[at...] }
        return text[..<scheme.upperBound] + rest
    }
}

extension SettingInForce.Source {
    init(_ source: ServiceSettingsError.Source) {
        self =
            switch source {
            case .file(let name, let line): .file(name, line: line)
            case .variable(let name): .variable(name)
            // Of problems only.
            case .environment, .nowhere: .default
            }
    }
}

extension SettingInForce.Source: CustomStringConvertible {
    /// `default`, `carillon.yaml:3`, or the name of a variable.
    package var description: String {
        switch self {
        case .default: "default"
        case .file(let name, line: let line?): "\(name):\(line)"
        case .file(let name, line: nil): name
        case .variable(let name): name
        }
    }
}
