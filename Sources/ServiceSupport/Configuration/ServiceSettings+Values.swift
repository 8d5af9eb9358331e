import NotificationModel

extension ServiceSettings {
    /// Text that is not empty.
    ///
    /// - Parameters:
    ///   - key: The key with dots.
    ///   - default: The value without a setting; nil makes it required.
    ///   - about: Its effect, for `--help-settings`; the same for every reader.
    public mutating func string(_ key: String, default: String?, about: String = "") -> String {
        read(key, .text, "text", about, default: `default`, write: { $0 }, parse: { $0 }) ?? ""
    }

    /// Optional text.
    public mutating func optionalString(_ key: String, about: String = "") -> String? {
        read(key, .text, "text", about, default: nil, required: false, write: { $0 }, parse: { $0 })
    }

    /// An integer.
    ///
    /// - Parameters:
    ///   - key: The key with dots.
    ///   - default: The value without a setting; nil makes it required.
    ///   - range: The allowed range; nil for all.
    public mutating func int(
        _ key: String,
        default: Int?,
        in range: ClosedRange<Int>? = nil,
        about: String = ""
    ) -> Int {
        let allowed = range.map { "an integer from \($0.lowerBound) to \($0.upperBound)" } ?? "an integer"
        let value = read(key, .integer, allowed, about, default: `default`, write: { "\($0)" }) { text in
            Int(text).flatMap { range?.contains($0) ?? true ? $0 : nil }
        }
        return value ?? range?.lowerBound ?? 0
    }

    /// A number from 0 to 1.
    mutating func ratio(_ key: String, default: Double, about: String = "") -> Double {
        let value = read(key, .text, "a number from 0 to 1", about, default: `default`, write: { "\($0)" }) { text in
            Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }
        return value ?? `default`
    }

    /// `application.default`: the application of rules and calls that name none.
    package mutating func application(default: String) -> String {
        let key = "application.default"
        let name = string(key, default: `default`, about: "The application of rules and calls without one.")
        do throws(ModelError) {
            _ = try NotificationKey(application: name, recipient: "r", identifier: "i")
        } catch {
            reject(key, error.detail)
        }
        return name
    }

    /// `true` or `false`; also accepts `yes`, `no`, `on`, `off`, `1` and `0`.
    public mutating func bool(_ key: String, default: Bool, about: String = "") -> Bool {
        let value = read(key, .boolean, "true or false", about, default: `default`, write: { "\($0)" }) {
            (text) -> Bool? in
            switch text.lowercased() {
            case "true", "yes", "on", "1": true
            case "false", "no", "off", "0": false
            default: nil
            }
        }
        return value ?? `default`
    }

    /// A duration with its unit: `250ms`, `1.5s`, `10s`, `5m`, `2h`, `7d`.
    ///
    /// - Parameters: As for ``int(_:default:in:about:)``.
    public mutating func duration(
        _ key: String,
        default: Duration?,
        in range: ClosedRange<Duration>? = nil,
        about: String = ""
    ) -> Duration {
        var allowed = "a duration such as 250ms, 10s or 7d"
        if let range {
            allowed += ", from \(DurationText.write(range.lowerBound)) to \(DurationText.write(range.upperBound))"
        }
        let value = read(key, .duration, allowed, about, default: `default`, write: DurationText.write) { text in
            DurationText.parse(text).flatMap { range?.contains($0) ?? true ? $0 : nil }
        }
        return value ?? range?.lowerBound ?? .zero
    }

    /// One of an enumeration's raw values.
    public mutating func oneOf<Value>(_ key: String, default: Value, about: String = "") -> Value
    where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
        let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
        let value = read(key, .choice, "one of \(allowed)", about, default: `default`, write: \.rawValue) {
            Value(rawValue: $0)
        }
        return value ?? `default`
    }

    /// The same, optional.
    public mutating func optionalOneOf<Value>(_ key: String, about: String = "") -> Value?
    where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
        let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return read(key, .choice, "one of \(allowed)", about, default: nil, required: false, write: \.rawValue) {
            Value(rawValue: $0)
        }
    }

    /// The name of a zone in the system's IANA time zone database.
    public mutating func timeZone(_ key: String, default: String, about: String = "") -> String {
        let allowed = "a time zone of the IANA database, such as Europe/Berlin"
        let value = read(key, .text, allowed, about, default: `default`, write: { $0 }) { name in
            (try? TimeZoneDatabase.system.get())?.contains(name) == true ? name : nil
        }
        return value ?? `default`
    }

    /// Items: a list in the file, or `a,b,c` (blanks around items and empty items are dropped).
    public mutating func list(_ key: String, default: [String], about: String = "") -> [String] {
        let written = `default`.joined(separator: ",")
        declare(key, .list, "a list, or items separated by commas", about, default: written, required: false)
        guard let found = lookup(key) else { return `default` }
        switch found.content {
        case .items(let items):
            keep(.items(items), of: key, from: found.source)
            return items
        case .text(let text):
            let items = text.split(separator: ",").map(Self.trimmed).filter { !$0.isEmpty }
            keep(.items(items), of: key, from: found.source)
            return items
        case .nothing:
            note(.init(key: key, source: found.source, message: "has no value; allowed: a list"))
            return `default`
        }
    }

    /// A set of an enumeration's raw values: a list in the file, or `a,b`.
    public mutating func choices<Value>(_ key: String, about: String = "") -> Set<Value>
    where Value: RawRepresentable & CaseIterable & Hashable, Value.RawValue == String {
        let texts = list(key, default: [], about: about)
        for text in texts where Value(rawValue: text) == nil {
            let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
            reject(key, "`\(text.prefix(60))` is none of \(allowed)")
        }
        return Set(texts.compactMap { Value(rawValue: $0) })
    }

    /// Names with values: a map in the file, whose names may contain dots, or `a=b,c=d` in the variable (`\,` is a
    /// comma in a value).
    ///
    /// Both are merged by name, and the variable overrides the file. Messages never contain values: they may be
    /// passwords.
    ///
    /// - Parameters:
    ///   - key: The key with dots.
    ///   - about: Its effect, for a table.
    ///   - isName: Whether a name is valid. An error about an item of the variable that begins with no valid name shows
    ///     only its number, except for the first item: the text may be the part of a password after a comma.
    public mutating func dictionary(
        _ key: String,
        about: String = "",
        isName: (String) -> Bool = { _ in true }
    ) -> [String: String] {
        let allowed = "a map, or name=value pairs separated by commas"
        declare(key, .map, allowed, about, default: nil, required: false)
        var result: [String: String] = [:]
        for (name, content, line) in file.entries(below: key) {
            if case .text(let text) = content {
                result[name] = text
                keep(text, of: name, in: key, from: file.source(line: line))
            } else {
                let path = "\(key).\(name)"
                note(.init(key: path, source: file.source(line: line), message: "is not a single value"))
            }
        }
        if let entry = file.value(key) {
            switch entry.content {
            case .nothing: break
            case .text, .items:
                note(.init(key: key, source: file.source(line: entry.line), message: "is not \(allowed)"))
            }
        }
        if let (variable, text) = variable(key) {
            for (index, item) in Self.splitItems(text).enumerated() {
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.trimmed(parts[0])
                let isNamed = parts.count == 2 && !name.isEmpty
                if isNamed, index == 0, !isName(name) {
                    let message = "is not a known name"
                    note(.init(key: "\(key).\(name)", source: .variable(variable), message: message))
                    continue
                }
                guard isNamed, isName(name) else {
                    let message =
                        "has an item, number \(index + 1), that is not name=value with a known name; "
                        + "write a comma in a value as \\,"
                    note(.init(key: key, source: .variable(variable), message: message))
                    continue
                }
                result[name] = String(parts[1])
                keep(String(parts[1]), of: name, in: key, from: .variable(variable))
            }
        }
        return result
    }

    // MARK: - The common part

    private mutating func declare(
        _ key: String,
        _ kind: DeclaredSetting.Kind,
        _ allowed: String,
        _ about: String,
        default: String?,
        required: Bool
    ) {
        declare(
            DeclaredSetting(
                key: key,
                variable: Self.variableName(key),
                kind: kind,
                allowed: allowed,
                about: about,
                defaultValue: `default`,
                isRequired: required
            )
        )
    }

    private mutating func read<Value>(
        _ key: String,
        _ kind: DeclaredSetting.Kind,
        _ allowed: String,
        _ about: String,
        default: Value?,
        required: Bool = true,
        write: (Value) -> String,
        parse: (String) -> Value?
    ) -> Value? {
        declare(key, kind, allowed, about, default: `default`.map(write), required: required && `default` == nil)
        guard let found = lookup(key) else {
            if required && `default` == nil {
                let variable = Self.variableName(key)
                let message = "is required: set it in the settings file or as \(variable); allowed: \(allowed)"
                note(.init(key: key, source: .nowhere, message: message))
            }
            return `default`
        }
        let given: String
        switch found.content {
        case .text(let text) where !text.isEmpty:
            if let value = parse(text) {
                keep(.text(write(value)), of: key, from: found.source)
                return value
            }
            given = "is \"\(text)\""
        case .text, .nothing: given = "has no value"
        case .items: given = "is a list"
        }
        note(.init(key: key, source: found.source, message: "\(given); allowed: \(allowed)"))
        return `default`
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    /// Splits at commas without a backslash before them.
    private static func splitItems(_ text: String) -> [Substring] {
        var items: [String] = [""]
        var escaped = false
        for character in text {
            switch character {
            case "," where !escaped: items.append("")
            case "\\" where !escaped:
                escaped = true
                continue
            case "," where escaped: items[items.count - 1].append(",")
            default:
                if escaped { items[items.count - 1].append("\\") }
                items[items.count - 1].append(character)
            }
            escaped = false
        }
        if escaped { items[items.count - 1].append("\\") }
        return items.map { $0[...] }.filter { !$0.isEmpty }
    }
}
