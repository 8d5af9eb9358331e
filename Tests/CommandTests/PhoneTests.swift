import Foundation
import HTTPTypes
import NotificationModel
import PushSimulation
@testable import ServiceHTTP
import Testing

@testable import carillon

@Suite("The page with phones, as values")
struct PhoneTests {
    private static let id = PhoneID(.apns, recipient: "ana/1", device: "an iPhone")

    private static func json(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    private static func phone(_ shown: [(String, Int)], online: Bool = true, badge: Int = 0) throws -> PhoneState {
        let list = shown.map { #"{"identifier":"\#($0.0)","id":"\#($0.1)"}"# }.joined(separator: ",")
        let text =
            #"{"online":\#(online),"apps":[{"bundleIdentifier":"app","badge":\#(badge),"shown":[\#(list)]}],"#
            + #""tokens":[{"token":"old","topic":"app","ended":"2026"},{"token":"t","topic":"app"}]}"#
        return try #require(PhoneState(id, app: "app", json(text)))
    }

    @Test("the names of a phone are in the simulator's name of it, whatever is in them")
    func names() {
        #expect(Self.id.simulated == "ana%2F1/an%20iPhone")
        #expect(PhoneID(.apns, simulated: Self.id.simulated, owner: nil) == Self.id)
        #expect(PhoneID(.apns, simulated: "iphone", owner: nil) == nil)
        #expect(PhoneID(.apns, simulated: "iphone", owner: "ana")?.recipient == "ana")
        for name in ["", "/", "a/", "/a", "a/b/c", "a/%zz"] {
            #expect(PhoneID(.fcm, simulated: name, owner: nil) == nil)
        }
    }

    @Test("a reader gets all of a phone, and then what has come, changed and gone")
    func changes() throws {
        let former = try Self.phone([("a", 1), ("b", 1), ("c", 1)])
        #expect(former.token == "t" && former.isOnline && former.badge == 0)
        let all = try #require(former.change(since: nil))
        #expect(all["reset"] == .bool(true) && all["put"]?.arrayValue?.count == 3)
        #expect(former.change(since: former) == nil)
        let next = try Self.phone([("b", 2), ("c", 1), ("d", 1)], online: false, badge: 2)
        let change = try #require(next.change(since: former))
        #expect(change["put"]?.arrayValue?.map { $0["identifier"]?.stringValue } == ["b", "d"])
        #expect(change["drop"] == .array([.string("a")]) && change["reset"] == nil)
        #expect(change["online"] == .bool(false) && change["badge"]?.integerValue == 2)
        #expect(PhoneState(Self.id, app: "other", try Self.json(#"{"apps":[]}"#)) == nil)
    }

    @Test("an Android phone is read likewise")
    func android() throws {
        let text =
            #"{"online":true,"apps":[{"package":"app","shown":[{"tag":"x","content":{"title":"T"}}]}],"tokens":["t"]}"#
        let phone = try #require(PhoneState(PhoneID(.fcm, recipient: "a", device: "b"), app: "app", Self.json(text)))
        #expect(phone.token == "t" && phone.badge == nil && phone.shown.map(\.identifier) == ["x"])
    }

    // MARK: - The feed

    private static func text(_ messages: [[UInt8]]) -> String {
        messages.map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// What waits for a reader.
    private static func read(_ reader: PhoneFeed.Reader, _ feed: PhoneFeed) async -> String {
        feed.end(reader)
        var messages: [[UInt8]] = []
        for await message in reader.messages { messages.append(message) }
        return text(messages)
    }

    @Test("a reader begins with what there is, and goes on from the last step that it has")
    func feed() async throws {
        let feed = PhoneFeed([.kafka, .apns], epoch: "e")
        feed.add([.string("one"), .string("two")])
        feed.set([try Self.phone([("a", 1)])], of: .apns)
        let first = try #require(feed.begin(after: nil))
        feed.set([], of: .apns)
        feed.set(.kafka, problem: nil)
        let text = await Self.read(first, feed)
        #expect(text.contains("event: begin\ndata: {\"again\":false}\n\n"))
        #expect(text.contains(#"event: sources"# + "\n" + #"data: {"kafka":true,"apns":"not read yet"}"#))
        #expect(text.contains("id: e-1\nevent: step\ndata: \"one\"\n\n") && text.contains("id: e-2\n"))
        #expect(text.contains("event: phone\n") && text.contains("event: gone\n"))

        let again = await Self.read(try #require(feed.begin(after: "e-1")), feed)
        #expect(again.contains("{\"again\":true}") && !again.contains("\"one\"") && again.contains("\"two\""))
        let other = await Self.read(try #require(feed.begin(after: "another-1")), feed)
        #expect(other.contains("{\"again\":false}") && other.contains("\"one\""))
    }

    @Test("the steps that are kept, the readers and what waits for them are bounded")
    func bounds() async throws {
        let feed = PhoneFeed([.kafka], epoch: "e")
        let slow = try #require(feed.begin(after: nil))
        let steps = PhoneFeed.keptSteps + PhoneFeed.waitingMessages + 1
        feed.add((0..<steps).map { .number($0) })
        // It was cut off when it had not read for long: its stream has an end without our doing.
        var count = 0
        for await _ in slow.messages { count += 1 }
        #expect(count <= steps)
        let late = await Self.read(try #require(feed.begin(after: nil)), feed)
        let kept = late.components(separatedBy: "event: step").count - 1
        #expect((PhoneFeed.keptSteps / 2...PhoneFeed.keptSteps).contains(kept))
        let readers = try (0..<PhoneFeed.mostReaders).map { _ in try #require(feed.begin(after: nil)) }
        #expect(feed.begin(after: nil) == nil && !feed.hasRoom)
        feed.end(readers[0])
        #expect(feed.hasRoom && feed.begin(after: nil) != nil)
    }

    // MARK: - Who may call

    private static func refusal(_ method: HTTPRequest.Method, _ fields: [(String, String)]) -> Int? {
        var headers = HTTPFields()
        for (name, value) in fields { HTTPField.Name(name).map { headers[$0] = value } }
        do throws(Problem) {
            try PhoneGuard.check(headers, method: method, host: "127.0.0.1:8084")
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test("only the page itself may call: a browser says whose page it is, and other pages cannot send JSON")
    func guarded() {
        let json = ("content-type", "application/json; charset=utf-8")
        #expect(Self.refusal(.get, []) == nil)
        #expect(Self.refusal(.get, [("sec-fetch-site", "same-origin")]) == nil)
        #expect(Self.refusal(.get, [("sec-fetch-site", "none")]) == nil)
        #expect(Self.refusal(.get, [("sec-fetch-site", "same-site")]) == 403)
        #expect(Self.refusal(.get, [("sec-fetch-site", "cross-site")]) == 403)
        #expect(Self.refusal(.post, [json]) == nil)
        #expect(Self.refusal(.post, [json, ("origin", "http://127.0.0.1:8084")]) == nil)
        for origin in ["http://127.0.0.1:8085", "https://127.0.0.1:8084", "http://localhost:8084", "null", ""] {
            #expect(Self.refusal(.post, [json, ("origin", origin)]) == 403, "\(origin)")
        }
        #expect(Self.refusal(.post, []) == 415)
        #expect(Self.refusal(.put, [("content-type", "text/plain")]) == 415)
        #expect(Self.refusal(.delete, [("origin", "http://evil.example")]) == 403)
    }

    @Test("what is not percent-encoded is not called")
    func encoded() {
        for text in ["/v1/a%2F1/b", "", "/v1/recipients/ana!'()*", "a=b&c=%C3%A9"] {
            #expect(ServiceClient.isEncoded(text))
        }
        for text in ["/%", "/%2", "/%zz", "/a b", "/{", "/\u{e9}", "/a?b", "/a#b", "/;"] {
            #expect(!ServiceClient.isEncoded(text), "\(text)")
        }
    }

    @Test("every file of the page is there, and the page loads no other")
    func files() throws {
        #expect(PhoneFiles.all.allSatisfy { !$0.bytes.isEmpty })
        let texts = PhoneFiles.all.map { String(decoding: $0.bytes, as: UTF8.self) }
        let served = Set(PhoneFiles.all.map(\.path))
        for text in texts {
            for match in text.matches(of: /(?:from "\.|(?:src|href)=")(\/[^"]*)"/) {
                #expect(served.contains(String(match.1)), "\(match.1)")
            }
            #expect(!text.contains("innerHTML") && !text.contains("insertAdjacentHTML") && !text.contains("eval("))
        }
        #expect(!PhoneFiles.policy.contains("unsafe"))
    }

    // MARK: - What carillon local simulates

    @Test("a platform that the operator has set up is not simulated, and with a file of settings none is")
    func wanted() {
        func wanted(_ variables: [String: String], hasFile: Bool = false, isAsked: Bool = false)
            -> Set<LocalPushServices.Platform>
        {
            LocalPushServices.wanted(variables, hasFile: hasFile, isAsked: isAsked)
        }
        #expect(wanted([:]) == [.apns, .fcm, .webpush])
        #expect(wanted(["CARILLON_FCM_APPLICATIONS_FILE": "x", "CARILLON_HTTP_PORT": "1"]) == [.apns, .webpush])
        #expect(wanted([:], hasFile: true) == [])
        #expect(wanted(["CARILLON_WEBPUSH_INTERNAL_ORIGINS": "x"]) == [.apns, .fcm, .webpush])
        #expect(wanted(["CARILLON_APNS_APPLICATIONS_FILE": "x"], hasFile: true, isAsked: true) == [.apns])
    }
}
