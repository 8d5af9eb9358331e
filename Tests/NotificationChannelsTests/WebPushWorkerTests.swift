import Foundation
import HTTPTesting
import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

private let hasNode = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/node")
}

/// The service worker of `deploy/examples/webpush`, run by Node.js with a browser's part in a few lines: it gets the messages
/// that Carillon makes.
@Suite("The service worker of Web Push", .enabled(if: hasNode, "Node.js is not on PATH"))
struct WebPushWorkerTests {
    /// Takes steps from a file; what the browser shows and what was sent is printed at the end.
    private static let browser = #"""
        const fs = require("node:fs"), vm = require("node:vm");
        const listeners = {}, opened = [], sent = [];
        let shown = [], badge = null, answers;
        const access = { url: "https://shop.example/push/v1/recipients/ana", token: "t" };
        const self = {
          addEventListener: (name, body) => { listeners[name] = body; },
          crypto: globalThis.crypto,
          caches: { open: async () => ({ match: async () => ({ json: async () => access }) }) },
          clients: { openWindow: async url => { opened.push(url); } },
          navigator: { setAppBadge: async number => { badge = number; } },
          registration: {
            getNotifications: async ({ tag }) => shown.filter(one => one.tag === tag),
            showNotification: async (title, options) => {
              shown = shown.filter(one => one.tag !== options.tag);
              const one = { title, ...options, close: () => { shown = shown.filter(other => other !== one); } };
              shown.push(one);
            },
          },
        };
        const fetch = async (url, { body, headers }) => {
          sent.push({ url, ...JSON.parse(body), as: headers.authorization });
          await answers;
        };
        vm.runInNewContext(fs.readFileSync(process.argv[2], "utf8"), { self, fetch, encodeURIComponent, Object, JSON, Number, Promise });
        (async () => {
          for (const step of JSON.parse(fs.readFileSync(process.argv[3], "utf8"))) {
            if (step.deaf) answers = new Promise(() => {});
            const waits = (step.pushes ?? [step.push]).map(push => {
              let done = Promise.resolve();
              const event = { waitUntil: promise => { done = promise; }, action: step.action ?? "" };
              if (push) event.data = { json: () => push };
              else event.notification = shown.find(one => one.title === step.title);
              listeners[push ? "push" : step.on](event);
              return done;
            });
            await (step.deaf ? new Promise(resume => setTimeout(resume, 10)) : Promise.all(waits));
          }
          for (const one of sent) if (one.responseId) one.responseId = one.responseId.length;
          console.log(JSON.stringify({ titles: shown.map(one => one.title), badge, opened, sent }));
        })();
        """#

    private static func run(_ steps: [JSONValue]) throws -> JSONValue {
        let files = try TestFiles()
        defer { files.remove() }
        let worker = WebPushPageTests.root.appendingPathComponent("deploy/examples/webpush/carillon-worker.js").path
        let text = String(decoding: JSONValue.array(steps).json, as: UTF8.self)
        let output = try files.run(
            "node",
            [files.write(browser, "browser.cjs"), worker, files.write(text, "steps.json")]
        )
        return try JSONValue.parse(Array(output.utf8))
    }

    private static func push(_ title: String, sequence: Int64, badge: Int64? = nil) throws -> JSONValue {
        var delivery = try APNsSample.delivery(
            #"{"title":"\#(title)","targetContentIdentifier":"orders/1"}"#,
            badge: badge
        )
        delivery.origin?.sequence.offset = sequence
        let actions =
            #"[{"identifier":"track","title":"Track","options":["foreground"]},{"identifier":"ok","title":"OK"}]"#
        let message = try WebPushSample.message(delivery, actions: actions)
        return .object([.init("push", try JSONValue.parse(message.body))])
    }

    private static func removal(sequence: Int64) throws -> JSONValue {
        var origin = try APNsSample.origin()
        origin.sequence.offset = sequence
        let message = WebPushMessage.removal(of: origin.key, sequence: origin.sequence)
        return .object([.init("push", try JSONValue.parse(message.body))])
    }

    private static func event(_ name: String, _ title: String, action: String? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [.init("on", .string(name)), .init("title", .string(title))]
        if let action { members.append(.init("action", .string(action))) }
        return .object(members)
    }

    private static func titles(_ steps: [JSONValue]) throws -> [String?] {
        try run(steps)["titles"]?.arrayValue?.map(\.stringValue) ?? []
    }

    @Test func `it shows, replaces and closes by the tag`() throws {
        let (first, second) = (try Self.push("First", sequence: 1), try Self.push("Second", sequence: 2))
        #expect(try Self.titles([first]) == ["First"])
        #expect(try Self.titles([first, second]) == ["Second"])
        #expect(try Self.titles([first, second, Self.removal(sequence: 3)]) == [])
    }

    @Test func `what comes late changes nothing`() throws {
        let (first, second) = (try Self.push("First", sequence: 1), try Self.push("Second", sequence: 2))
        #expect(try Self.titles([second, first]) == ["Second"])
        #expect(try Self.titles([second, Self.removal(sequence: 1)]) == ["Second"])
    }

    @Test func `what comes at once is shown and closed in its order, also when Carillon does not answer`() throws {
        let pushes = [
            try Self.push("First", sequence: 1), try Self.removal(sequence: 2), try Self.push("Second", sequence: 3),
            try Self.removal(sequence: 4), try Self.push("Third", sequence: 5),
        ].compactMap { $0["push"] }
        for isDeaf in [false, true] {
            let atOnce = { (pushes: ArraySlice<JSONValue>) in
                JSONValue.object([.init("pushes", .array(Array(pushes))), .init("deaf", .bool(isDeaf))])
            }
            #expect(try Self.titles([atOnce(pushes[..<4])]) == [])
            #expect(try Self.titles([atOnce(pushes[...])]) == ["Third"])
        }
    }

    @Test func `it tells what became of a notification, and opens its page`() throws {
        let shown = try Self.push("First", sequence: 1, badge: 4)
        let result = try Self.run([shown, Self.event("notificationclick", "First")])
        let sent = try #require(result["sent"]?.arrayValue)
        let page = "https://shop.example/open?target=orders/1"
        #expect(result["opened"]?.arrayValue?.map(\.stringValue) == [page] && result["badge"] == .number("4"))
        #expect(sent.count == 2 && sent[0]["receipt"]?.stringValue == "presented")
        #expect(sent[0]["url"]?.stringValue?.hasSuffix("/recipients/ana/receipts?application=shop") == true)
        #expect(sent[1]["url"]?.stringValue?.hasSuffix("/recipients/ana/responses?application=shop") == true)
        #expect(sent[1]["actionIdentifier"]?.stringValue == "default" && sent[1]["responseId"] == .number("36"))
        #expect(sent[1]["identifier"]?.stringValue == "order-1001" && sent[1]["as"]?.stringValue == "Bearer t")
    }

    @Test func `an action opens the page only if it is to`() throws {
        let shown = try Self.push("First", sequence: 1)
        for (action, pages) in [("track", 1), ("ok", 0)] {
            let result = try Self.run([shown, Self.event("notificationclick", "First", action: action)])
            #expect(result["opened"]?.arrayValue?.count == pages)
            #expect(result["sent"]?[1]?["actionIdentifier"]?.stringValue == action)
        }
        let closed = try Self.run([shown, Self.event("notificationclose", "First")])
        #expect(closed["sent"]?[1]?["actionIdentifier"]?.stringValue == "dismiss")
    }
}
