/// The output of `--help-settings`: every setting with its variable, range, default and effect.
enum SettingsHelp {
    static let width = 79

    /// - Parameter settings: The declared settings, in any order.
    static func text(_ settings: [DeclaredSetting]) -> String {
        let head = """
            Settings are keys of the YAML file of --config, and environment variables, which override it.

            """
        return settings.sorted { $0.key < $1.key }.reduce(into: head) { text, setting in
            let value =
                setting.isRequired ? "required" : setting.defaultValue.map { $0.isEmpty ? "" : "default \($0)" } ?? ""
            let form = [setting.allowed, value].filter { !$0.isEmpty }.joined(separator: "; ")
            text += "\n\(setting.key)  \(setting.variable)\n"
            text += wrapped(form) + wrapped(setting.about)
        }
    }

    /// Lines of at most the given width, indented.
    private static func wrapped(_ text: String) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append("    \(word)")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
