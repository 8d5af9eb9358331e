import NotificationModel
import ServiceSupport

/// The settings in force, for people and for programs.
enum ConfigReport {
    private static let secret = "<set>"

    /// A line for each setting: key, value and source in columns.
    static func text(of settings: [SettingInForce], in service: ServiceChoice) -> String {
        let rows = settings.map { ($0.key, text(of: $0.value), $0.source.description) }
        let keyWidth = rows.map(\.0.count).max() ?? 0
        // One long value does not move the sources of all others.
        let valueWidth = min(40, rows.map(\.1.count).max() ?? 0)
        return rows.reduce(into: "\(service.main.name)\n") { text, row in
            text += "  \(padded(row.0, keyWidth))  \(padded(row.1, valueWidth))  \(row.2)\n"
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func text(of value: SettingInForce.Value) -> String {
        switch value {
        case .nothing: "-"
        case .text(let text): text.isEmpty ? "-" : text
        case .integer(let number): "\(number)"
        case .boolean(let isTrue): "\(isTrue)"
        case .items(let items): items.isEmpty ? "-" : items.joined(separator: ",")
        case .secret: secret
        }
    }

    /// `{"service":…,"settings":[{"key":…,"value":…,"source":…}]}` on one line.
    ///
    /// A secret has `"secret":true` instead of its value. `source` is `default`, `file` with `file` and `line`, or `variable`
    /// with `variable`.
    static func json(of settings: [SettingInForce], in service: ServiceChoice) -> [UInt8] {
        let list = settings.map { setting in
            var members: [JSONValue.Member] = [.init("key", .string(setting.key))]
            switch setting.value {
            case .nothing: members.append(.init("value", .null))
            case .text(let text): members.append(.init("value", .string(text)))
            case .integer(let number): members.append(.init("value", .number("\(number)")))
            case .boolean(let isTrue): members.append(.init("value", .bool(isTrue)))
            case .items(let items): members.append(.init("value", .array(items.map { .string($0) })))
            case .secret: members.append(.init("secret", .bool(true)))
            }
            switch setting.source {
            case .default: members.append(.init("source", .string("default")))
            case .file(let name, let line):
                members += [.init("source", .string("file")), .init("file", .string(name))]
                if let line { members.append(.init("line", .number("\(line)"))) }
            case .variable(let name):
                members += [.init("source", .string("variable")), .init("variable", .string(name))]
            }
            return JSONValue.object(members)
        }
        let report = JSONValue.object([.init("service", .string(service.rawValue)), .init("settings", .array(list))])
        return report.json + [0x0A]
    }
}
