import NotificationModel

/// A page of `/metrics` as read: samples by name.
struct MetricsText: Sendable, Hashable {
    /// A value with its labels.
    struct Sample: Sendable, Hashable {
        var labels: [String: String]
        var value: Double
    }

    /// More is not read of a page; the services bound their series to much less.
    static let maximumSamples = 200_000

    private(set) var samples: [String: [Sample]] = [:]

    /// Reads the text format of Prometheus, version 0.0.4. Lines that are none of it are passed over: another version may have
    /// further ones.
    init(_ text: some StringProtocol) {
        var count = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard count < Self.maximumSamples else { return }
            guard let (name, sample) = Self.sample(Substring(line)) else { continue }
            samples[name, default: []].append(sample)
            count += 1
        }
    }

    /// The sum over all samples of a name that have the labels; nil without any.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let found = samples[name]?.filter { sample in labels.allSatisfy { sample.labels[$0] == $1 } } ?? []
        return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
    }

    /// The sums by the value of a label.
    func sums(_ name: String, by label: String) -> [String: Double] {
        (samples[name] ?? []).reduce(into: [:]) { sums, sample in
            if let value = sample.labels[label] { sums[value, default: 0] += sample.value }
        }
    }

    // MARK: - Lines

    /// `name{label="value",…} 12` with an optional time.
    private static func sample(_ line: Substring) -> (String, Sample)? {
        let name = line.prefix { $0 != "{" && $0 != " " }
        guard !name.isEmpty else { return nil }
        var rest = line[name.endIndex...]
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while let first = rest.first, first != "}" {
                guard let (label, value, after) = Self.label(rest) else { return nil }
                labels[label] = value
                rest = after.first == "," ? after.dropFirst() : after
            }
            rest = rest.dropFirst()
        }
        let fields = rest.split(separator: " ")
        guard let text = fields.first, let value = Double(text == "+Inf" ? "inf" : text) else { return nil }
        return (String(name), Sample(labels: labels, value: value))
    }

    /// `label="value"`, the value with its escapes, and what follows.
    private static func label(_ text: Substring) -> (String, String, Substring)? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        var index = text.index(after: equals)
        guard index < text.endIndex, text[index] == "\"" else { return nil }
        var value = ""
        var isEscaped = false
        index = text.index(after: index)
        while index < text.endIndex {
            let character = text[index]
            index = text.index(after: index)
            if isEscaped {
                value.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return (String(text[..<equals]), value, text[index...])
            } else {
                value.append(character)
            }
        }
        return nil
    }
}
