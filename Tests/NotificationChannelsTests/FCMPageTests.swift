import Foundation
import HTTPTesting
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("The page of messages to Android devices")
struct FCMPageTests {
    private let page: String

    init() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = package.appendingPathComponent("Sources/carillon/carillon.docc/FCM.md")
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

    @Test func `the table of answers has every code`() {
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| 40") }
        for code in FCMErrorCode.allCases {
            let count = rows.count { $0.split(separator: "|").first?.contains("`\(code.rawValue)`") == true }
            #expect(count == 1, "\(code.rawValue) is in \(count) rows")
        }
    }

    @Test func `the file of applications is read`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let account = try files.write(FCMSample.accountJSON, "account.json")
        let text = try block("yaml", containing: "display: app")
            .replacing("/etc/carillon/shop-firebase.json", with: account)
            .replacing("/etc/carillon/bank-firebase.json", with: account)
        let applications = try FCMApplicationsFile.parse(text, of: "fcm.yaml")
        #expect(applications.count == 2 && applications["bank"]?.project == "bank-1234")
        #expect(applications["shop"]?.channel(for: .critical) == "alarms")
    }

    @Test func `its messages are those that Carillon makes`() throws {
        let shown = try block("json", containing: "On its way")
        #expect(try FCMDiscovery.problems(Array(shown.utf8)) == [])
        let value = try JSONValue.parse(Array(shown.utf8))
        let own = try JSONValue.parse(Array(#require(value.value(at: "message.data.carillon")?.stringValue).utf8))
        let made = try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#)).own()
        let known = Set(made.objectValue?.map(\.name) ?? [])
        #expect(own.objectValue?.isEmpty == false && known.isSuperset(of: own.objectValue?.map(\.name) ?? []))
        let removal = try JSONValue.parse(Array(block("json", containing: "remove").utf8))
        let remove = try JSONValue.parse(Array(#require(removal["carillon"]?.stringValue).utf8))
        #expect(remove["remove"]?.objectValue?.first?.value.stringValue != nil)
    }
}
