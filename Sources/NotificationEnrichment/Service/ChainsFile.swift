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
        do throws(YAMLFile.Problem) {
            return try ChainsFile(YAMLFile.load(path: path, maximumBytes: maximumBytes))
        } catch {
            throw EnrichmentSettingsError(.chainsFile, error.message)
        }
    }

    init(text: String, of path: String) throws(EnrichmentSettingsError) {
        do throws(YAMLFile.Problem) {
            try self.init(YAMLFile(text: text, of: path))
        } catch {
            throw EnrichmentSettingsError(.chainsFile, error.message)
        }
    }

    private init(_ file: YAMLFile) throws(YAMLFile.Problem) {
        for (name, value) in try file.members(file.root, "the file") {
            switch name {
            case "enrichers":
                let all = try file.members(value, name)
                guard all.count <= Self.maximumEnrichers else {
                    throw file.problem(value, "`enrichers` has \(all.count) entries; at most \(Self.maximumEnrichers)")
                }
                for (name, value) in all { enrichers[name] = try Self.description(of: name, value, file) }
            case "chains": chains = try Self.chains(value, file)
            default: throw file.unknown(name, value, among: ["enrichers", "chains"])
            }
        }
    }

    private static func chains(_ node: Node, _ file: YAMLFile) throws(YAMLFile.Problem) -> EnrichmentChains {
        let all = try file.members(node, "chains")
        guard all.count <= maximumChains else {
            throw file.problem(node, "`chains` has \(all.count) entries; at most \(maximumChains)")
        }
        var chains = EnrichmentChains()
        for (category, value) in all {
            let text = try file.text(value, category)
            do throws(EnrichmentChainError) {
                let chain = try EnrichmentChain(text: text)
                if category == "default" {
                    chains.standard = chain
                } else {
                    chains.byCategory[ExactText(category)] = chain
                }
            } catch {
                throw file.problem(value, "the chain `\(PrintableText.escaped(category))`: \(error.message)")
            }
        }
        return chains
    }

    private static func description(
        of name: String,
        _ node: Node,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> Description {
        guard EnrichmentChain.isName(name) else {
            throw file.problem(
                node,
                "`\(PrintableText.escaped(name))` is no name of an enricher: a-z, 0-9, `:`, `-`, `_`"
            )
        }
        let members = try file.members(node, name)
        if name == "template" || name.hasPrefix("template:") {
            var templates: [TemplateEnricher.Field: String] = [:]
            for (member, value) in members {
                guard let field = TemplateEnricher.Field(rawValue: member) else {
                    throw file.unknown(member, value, among: TemplateEnricher.Field.allCases.map(\.rawValue))
                }
                templates[field] = try file.text(value, member)
            }
            return .template(templates)
        }
        guard name == "webhook" || name.hasPrefix("webhook:") else {
            throw file.problem(node, "`\(name)` must begin with `template:` or `webhook:`, which says what it does")
        }
        var (url, keys): (String?, String?)
        var isInternal = false
        for (member, value) in members {
            switch member {
            case "url": url = try file.text(value, member)
            case "keys": keys = try file.text(value, member)
            case "internal":
                guard let flag = Bool(try file.text(value, member)) else {
                    throw file.problem(value, "`internal` must be true or false")
                }
                isInternal = flag
            default: throw file.unknown(member, value, among: ["url", "keys", "internal"])
            }
        }
        guard let url, let keys else { throw file.problem(node, "`\(name)` needs a `url` and a file of `keys`") }
        return .webhook(url: url, keysFile: keys, isInternal: isInternal)
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
