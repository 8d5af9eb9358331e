import Foundation
import NotificationModel
import ServiceSupport
import Yams

/// The file of `enrichment.chains.file`: the enrichers of the service, and their chains by category.
///
///     enrichers:
///       template:greeting:
///         title: "For {{userInfo.name}}"
///       webhook:scores:
///         url: https://enrich.example.com/scores
///         keys: /etc/carillon/enrich.keys
///     chains:
///       default: attachments
///       SCORES: webhook:scores budget=2s on-failure=original; attachments
///
/// `attachments` exists without a description. Messages name the place in the file, and never quote a text of it but names.
struct ChainsFile {
    /// A larger file is a mistake.
    static let maximumBytes = 256 * 1024
    static let maximumEnrichers = 100
    static let maximumChains = 1000

    /// What the file says about an enricher besides its name.
    enum Description: Hashable {
        case template([TemplateEnricher.Field: String])
        /// - Parameters:
        ///   - keysFile: of the keys that sign requests.
        ///   - isInternal: whether the service is inside the network: neither its host nor its addresses are judged.
        case webhook(url: String, keysFile: String, isInternal: Bool)
    }

    private(set) var enrichers: [String: Description] = [:]
    private(set) var chains = EnrichmentChains()

    /// One chain, of attachments only.
    init() {}

    static func load(path: String) throws(EnrichmentSettingsError) -> ChainsFile {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: maximumBytes + 1)
        else {
            throw EnrichmentSettingsError(.chainsFile, "\(path) does not exist, or cannot be read")
        }
        guard data.count <= maximumBytes else {
            throw EnrichmentSettingsError(.chainsFile, "\(path) has more than \(maximumBytes) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw EnrichmentSettingsError(.chainsFile, "\(path) is not UTF-8")
        }
        return try ChainsFile(text: text, of: path)
    }

    init(text: String, of path: String) throws(EnrichmentSettingsError) {
        let root: Node?
        let excess: Mark?
        do {
            excess = try YAMLBounds.excess(in: text)
            root = excess == nil ? try Parser(yaml: text).singleRoot() : nil
        } catch {
            throw EnrichmentSettingsError(.chainsFile, "\(path) is not YAML: \(PrintableText.escaped("\(error)"))")
        }
        if let excess { throw EnrichmentSettingsError(.chainsFile, "\(path):\(excess.line): \(YAMLBounds.message)") }
        let reader = Reader(path: path)
        for (name, value) in try reader.members(root, "the file") {
            switch name {
            case "enrichers":
                let all = try reader.members(value, name)
                guard all.count <= Self.maximumEnrichers else {
                    throw reader.error(value, "`enrichers` has \(all.count) entries; at most \(Self.maximumEnrichers)")
                }
                for (name, value) in all { enrichers[name] = try Self.description(of: name, value, reader) }
            case "chains": chains = try Self.chains(value, reader)
            default: throw reader.unknown(name, value, among: ["enrichers", "chains"])
            }
        }
    }

    private static func chains(_ node: Node, _ reader: Reader) throws(EnrichmentSettingsError) -> EnrichmentChains {
        let all = try reader.members(node, "chains")
        guard all.count <= maximumChains else {
            throw reader.error(node, "`chains` has \(all.count) entries; at most \(maximumChains)")
        }
        var chains = EnrichmentChains()
        for (category, value) in all {
            let text = try reader.text(value, category)
            do throws(EnrichmentChainError) {
                let chain = try EnrichmentChain(text: text)
                if category == "default" {
                    chains.standard = chain
                } else {
                    chains.byCategory[ExactText(category)] = chain
                }
            } catch {
                throw reader.error(value, "the chain `\(PrintableText.escaped(category))`: \(error.message)")
            }
        }
        return chains
    }

    private static func description(
        of name: String,
        _ node: Node,
        _ reader: Reader
    ) throws(EnrichmentSettingsError) -> Description {
        guard EnrichmentChain.isName(name) else {
            throw reader.error(
                node,
                "`\(PrintableText.escaped(name))` is no name of an enricher: a-z, 0-9, `:`, `-`, `_`"
            )
        }
        let members = try reader.members(node, name)
        if name == "template" || name.hasPrefix("template:") {
            var templates: [TemplateEnricher.Field: String] = [:]
            for (member, value) in members {
                guard let field = TemplateEnricher.Field(rawValue: member) else {
                    throw reader.unknown(member, value, among: TemplateEnricher.Field.allCases.map(\.rawValue))
                }
                templates[field] = try reader.text(value, member)
            }
            return .template(templates)
        }
        guard name == "webhook" || name.hasPrefix("webhook:") else {
            throw reader.error(node, "`\(name)` must begin with `template:` or `webhook:`, which says what it does")
        }
        var (url, keys): (String?, String?)
        var isInternal = false
        for (member, value) in members {
            switch member {
            case "url": url = try reader.text(value, member)
            case "keys": keys = try reader.text(value, member)
            case "internal":
                guard let flag = Bool(try reader.text(value, member)) else {
                    throw reader.error(value, "`internal` must be true or false")
                }
                isInternal = flag
            default: throw reader.unknown(member, value, among: ["url", "keys", "internal"])
            }
        }
        guard let url, let keys else { throw reader.error(node, "`\(name)` needs a `url` and a file of `keys`") }
        return .webhook(url: url, keysFile: keys, isInternal: isInternal)
    }

    /// Reads nodes; its errors name the line.
    private struct Reader {
        let path: String

        func error(_ node: Node?, _ message: String) -> EnrichmentSettingsError {
            EnrichmentSettingsError(.chainsFile, "\(path)\(node?.mark.map { ":\($0.line)" } ?? ""): \(message)")
        }

        func unknown(_ name: String, _ node: Node, among known: [String]) -> EnrichmentSettingsError {
            let hint = Spelling.nearest(to: name, among: known).map { "; did you mean `\($0)`?" } ?? ""
            return error(node, "unknown key `\(PrintableText.escaped(name))`\(hint)")
        }

        func members(_ node: Node?, _ what: String) throws(EnrichmentSettingsError) -> [(String, Node)] {
            guard case .mapping(let mapping)? = node else {
                throw error(node, "\(PrintableText.escaped(what)) must be a mapping of names to values")
            }
            var members: [(String, Node)] = []
            for (key, value) in mapping {
                guard case .scalar(let scalar) = key else { throw error(key, "a name must be a text") }
                members.append((scalar.string, value))
            }
            return members
        }

        func text(_ node: Node, _ what: String) throws(EnrichmentSettingsError) -> String {
            guard case .scalar(let scalar) = node else {
                throw error(node, "`\(PrintableText.escaped(what))` must be a text")
            }
            return scalar.string
        }
    }
}

/// An invalid setting of enrichment, found at the start.
package struct EnrichmentSettingsError: Error, Hashable, CustomStringConvertible {
    package enum Key: String, Sendable {
        case chainsFile = "enrichment.chains.file"
        case mediaDirectory = "media.directory"
        case mediaKeys = "media.keys.file"
        case mediaURL = "media.url"
        case egress = "egress"
    }

    package let key: Key
    package let message: String

    init(_ key: Key, _ message: String) { (self.key, self.message) = (key, message) }

    package var description: String { "\(key.rawValue): \(message)" }
}
