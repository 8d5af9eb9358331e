import Foundation
import Testing

/// Web Push in real browsers, with the worker and the page that are shipped.
@Suite("Web Push in browsers", .serialized, .disabled(if: Cluster.isReal, "carillon local brings its own broker"))
struct BrowserPushTests {
    private static let chromium: String? = try? Tools.program("chromium")
    private static let firefox: String? = try? Tools.program("firefox-esr")
    private static let node: String? = try? Tools.program("node")

    @Test(
        "Firefox subscribes, decrypts, shows, replaces and closes; what it cannot read is never told; 410 retires it",
        .enabled(if: firefox != nil, "Firefox is not installed: apt-get install firefox-esr")
    )
    func inFirefox() async throws {
        let service = try await WebPushSimulatorProcess()
        let local = try await LocalProcess(
            environment: [
                "CARILLON_WEBPUSH_INTERNAL_ORIGINS": try service.place("endpoints"),
                "CARILLON_EGRESS_CA_FILE": try service.place("authority"),
            ]
        )
        let test = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("browser_push.py"), "firefox", try #require(Self.firefox), try local.place("phone"),
                try local.place("http"), try service.place("browsers"), try service.place("control"),
            ]
        )
        #expect(try await test.ended() == 0, "\(test.lastWords)\n\(local.child.lastWords)")
        for child in [local.child, service.child] { await child.end() }
    }

    @Test("a browser and a sender of other hands find the push service as RFC 8030 and Mozilla's protocol say")
    func otherHands() async throws {
        let service = try await WebPushSimulatorProcess()
        let test = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("webpush_simulator.py"), try service.place("endpoints"), try service.place("browsers"),
                try service.place("control"), try service.place("authority"),
            ]
        )
        #expect(try await test.ended() == 0, "\(test.lastWords)")
        await service.child.end()
    }

    @Test(
        "Chromium's worker shows, replaces, answers and closes what another library has decrypted",
        .enabled(if: chromium != nil, "Chromium is not installed: apt-get install chromium")
    )
    func inChromium() async throws {
        let folder = try TemporaryFolder()
        let service = try await PushServiceProcess(in: folder)
        let local = try await LocalProcess(
            environment: [
                "CARILLON_WEBPUSH_INTERNAL_ORIGINS": service.origin, "CARILLON_EGRESS_CA_FILE": service.certificate,
            ]
        )
        let test = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("browser_push.py"), "chromium", try #require(Self.chromium), try local.place("phone"),
                try local.place("http"), service.origin, service.certificate,
            ]
        )
        #expect(try await test.ended() == 0, "\(test.lastWords)\n\(local.child.lastWords)")
        for child in [local.child, service.child] { await child.end() }
    }

    @Test(
        "the module of apps calls what the page on it says, again only where that helps, and a response under one id",
        .enabled(if: node != nil, "Node is not installed: apt-get install nodejs")
    )
    func module() async throws {
        let file = Tools.package.appendingPathComponent("deploy/examples/app/carillon.js").path
        let test = try ChildProcess(try #require(Self.node), [Tools.client("app_module.mjs"), file])
        #expect(try await test.ended() == 0, "\(test.lastWords)")
    }
}
