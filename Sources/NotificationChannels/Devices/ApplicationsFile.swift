import NotificationModel
import ServiceSupport
import Yams

/// What the files of applications have in common: a mapping of names of applications to how their users' devices are reached.
enum ApplicationsFile {
    /// A larger file is a mistake.
    static let maximumBytes = 1 << 20
    static let maximumApplications = 10_000
    /// Identifiers of apps in one list.
    static let maximumIdentifiers = 100

    /// What is read.
    enum Source {
        /// A file.
        case path(String)
        /// The text of one.
        case text(String, of: String)
    }

    /// Reads a file that a setting names, or its text. Blocks.
    static func read<Applications>(
        _ source: Source,
        of setting: String,
        _ body: (YAMLFile) throws(YAMLFile.Problem) -> Applications
    ) throws(PushSettingsError) -> Applications {
        do throws(YAMLFile.Problem) {
            switch source {
            case .path(let path): return try body(YAMLFile.load(path: path, maximumBytes: maximumBytes))
            case .text(let text, let path): return try body(YAMLFile(text: text, of: path))
            }
        } catch {
            throw PushSettingsError(message: "\(setting): \(error.message)")
        }
    }

    /// The applications of a file, whose names may be in keys of notifications.
    static func applications(of file: YAMLFile) throws(YAMLFile.Problem) -> [(String, Node)] {
        let all = try file.members(file.root, "the file")
        guard !all.isEmpty else { throw file.problem(file.root, "the file has no application") }
        guard all.count <= maximumApplications else {
            throw file.problem(file.root, "\(all.count) applications; at most \(maximumApplications)")
        }
        for (name, node) in all {
            do throws(ModelError) {
                _ = try NotificationKey(application: name, recipient: "r", identifier: "i")
            } catch {
                throw file.problem(node, "`\(PrintableText.escaped(name))` is no application: \(error.detail)")
            }
        }
        return all
    }

    /// The identifiers of an application's apps: one, or a list.
    ///
    /// - Parameters:
    ///   - member: its name in the file.
    ///   - what: the identifier, for people.
    static func identifiers(
        _ node: Node,
        _ member: String,
        _ what: String,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> [String] {
        let found = try file.texts(node, member)
        guard found.count <= maximumIdentifiers else {
            throw file.problem(node, "\(found.count) \(member); at most \(maximumIdentifiers)")
        }
        for text in found where !isIdentifier(text) {
            throw file.problem(
                node,
                "`\(PrintableText.escaped(text))` is no \(what): letters, digits, '-' and '.'"
            )
        }
        return found
    }

    /// It may become a part of a header or a path, so what it may contain matters.
    static func isIdentifier(_ text: String) -> Bool {
        (1...ModelLimits.bundleIdentifierBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }

    /// - Parameter member: its name in the file.
    static func oversize(
        _ node: Node,
        _ member: String,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> OversizePolicy {
        guard let policy = OversizePolicy(texts: try file.texts(node, member)) else {
            throw file.problem(node, "`\(member)` must be refuse, or a list of shorten and drop-media")
        }
        return policy
    }
}

/// The members of one application in a file.
struct ApplicationMembers<Member: RawRepresentable<String> & CaseIterable & Hashable> {
    let file: YAMLFile
    private let name: String
    private let node: Node
    private var found: [Member: Node] = [:]

    init(_ name: String, _ node: Node, _ file: YAMLFile) throws(YAMLFile.Problem) {
        (self.name, self.node, self.file) = (name, node, file)
        for (member, value) in try file.members(node, name) {
            guard let known = Member(rawValue: member) else {
                throw file.unknown(member, value, among: Member.allCases.map(\.rawValue))
            }
            found[known] = value
        }
    }

    subscript(_ member: Member) -> Node? { found[member] }

    /// - Parameter example: of its value, for people.
    func required(_ member: Member, _ example: String) throws(YAMLFile.Problem) -> Node {
        guard let value = found[member] else {
            throw file.problem(node, "`\(PrintableText.escaped(name))` needs `\(member.rawValue)`: \(example)")
        }
        return value
    }

    /// What becomes of a payload that is too large; the standard policy without the member.
    func oversize(_ member: Member) throws(YAMLFile.Problem) -> OversizePolicy {
        guard let node = found[member] else { return .standard }
        return try ApplicationsFile.oversize(node, member.rawValue, file)
    }
}

/// An invalid setting of a channel to devices.
package struct PushSettingsError: Error, Hashable, CustomStringConvertible {
    /// Begins with the setting, and names the file and the line; never contains a key.
    package let message: String

    package var description: String { message }
}
