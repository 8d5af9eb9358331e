import Foundation
import HTTPTesting
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("The page of Web Push")
struct WebPushPageTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private let page: String

    init() throws {
        let file = Self.root.appendingPathComponent("Sources/carillon/carillon.docc/WebPush.md")
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

    @Test func `the file of applications is read`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let text = try block("yaml", containing: "key-file")
            .replacing("/etc/carillon/shop-vapid.pem", with: WebPushSample.key(files))
        #expect(try WebPushApplicationsFile.parse(text, of: "browsers.yaml")["shop"] != nil)
    }

    @Test func `its registration is accepted`() throws {
        let registration = try DeviceRegistration(body: Array(block("json", containing: "p256dh").utf8))
        #expect(registration.platform == "webpush")
    }

    @Test func `its messages have the members of those that Carillon makes, in their order`() throws {
        let shown = try JSONValue.parse(Array(block("json", containing: "On its way").utf8))
        let actions = #"[{"identifier":"track","title":"Track","options":["foreground"]}]"#
        let content = #"{"title":"T","body":"B","targetContentIdentifier":"orders/1001","userInfo":{"orderId":"1001"}}"#
        let made = try JSONValue.parse(
            WebPushSample.message(APNsSample.delivery(content, badge: 3), actions: actions).body
        )
        func names(_ value: JSONValue, _ path: String) -> [String]? { value.value(at: path)?.objectValue?.map(\.name) }
        for path in ["", "notification", "notification.actions.0", "notification.data"] {
            #expect(names(shown, path) == names(made, path).map { $0.filter { $0 != "timestamp" } }, "\(path)")
        }
        let removal = try JSONValue.parse(Array(block("json", containing: "remove").utf8))
        #expect(removal.value(at: "carillon.remove")?.objectValue?.first?.value.stringValue != nil)
    }
}
