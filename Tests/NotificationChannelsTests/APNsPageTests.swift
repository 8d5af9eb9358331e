import Foundation
import HTTPTesting
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("The page of pushes to Apple devices")
struct APNsPageTests {
    private let page: String

    init() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = package.appendingPathComponent("Sources/carillon/carillon.docc/APNs.md")
        page = try String(contentsOf: file, encoding: .utf8)
    }

    private func block(_ language: String, containing part: String) throws -> String {
        let blocks = page.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        let found = blocks.filter { $0.contains(part) }
        try #require(found.count == 1, "\(found.count) blocks contain \(part)")
        return found[0]
    }

    /// The rows of tables, as cells.
    private var rows: [[String]] {
        page.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func codes(_ cell: String) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

    @Test func `the table of answers has every reason, in a row with what is done`() throws {
        let known = Dictionary(uniqueKeysWithValues: APNsReason.allCases.map { ($0.rawValue, $0) })
        var named: Set<String> = []
        for row in rows where row.count == 3 {
            let reasons = codes(row[0]).compactMap { known[$0] }
            #expect(Set(reasons.map { APNsAction(status: 0, reason: $0) }).count <= 1, "\(row[0])")
            for reason in reasons { #expect(named.insert(reason.rawValue).inserted, "\(reason) is there twice") }
        }
        #expect(named == Set(known.keys))
    }

    @Test func `the table of types has each with its suffix and size`() throws {
        var named: Set<String> = []
        for row in rows where row.count == 4 {
            for name in codes(row[0]) {
                guard let type = APNsPushType(rawValue: name) else { continue }
                named.insert(name)
                #expect(row[1].hasPrefix(type.topicSuffix.isEmpty ? "none" : "`\(type.topicSuffix)`"), "\(name)")
                #expect(row[3].hasPrefix(type == .voip ? "5,120" : "4,096"), "\(name)")
            }
        }
        #expect(named == Set(APNsPushType.allCases.map(\.rawValue)))
    }

    @Test func `the file of applications is read`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let certificate = try files.certificate("bank")
        var text = try block("yaml", containing: "removal-text")
        for name in ["ABC123DEFG", "NOP789QRST"] {
            let key = try APNsSample.key(files, "AuthKey_\(name).p8")
            text = text.replacing("/etc/carillon/AuthKey_\(name).p8", with: key)
        }
        text = text.replacing("/etc/carillon/bank-key.pem", with: certificate.key)
            .replacing("/etc/carillon/bank.pem", with: certificate.certificate)
        let applications = try APNsApplicationsFile.parse(text, of: "apns.yaml")
        #expect(
            applications.count == 2 && applications["bank"]?.removal == .overwrite(text: "This message was withdrawn.")
        )
    }

    @Test func `the payloads are coherent, and those that Carillon makes`() throws {
        let shown = try block("json", containing: "On its way")
        let push = APNsPush(headers: APNsHeaders(.alert, bundle: "a.b"), payload: Array(shown.utf8))
        #expect(push.problems().isEmpty, "\(push.problems())")
        let made = try APNsSample.push(APNsSample.delivery(#"{"title":"T"}"#))
        func names(_ json: [UInt8]) throws -> [String]? {
            try JSONValue.parse(json)["carillon"]?.objectValue?.map(\.name)
        }
        #expect(try names(Array(shown.utf8)) == names(made.payload))
        let removal = try JSONValue.parse(Array(block("json", containing: "remove").utf8))
        #expect(removal["carillon"]?["remove"]?.objectValue?.first?.value.stringValue != nil)
        #expect(page.contains("there can be \(APNsRemoval.maximumItems) in one push"))
    }
}
