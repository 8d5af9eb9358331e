import NotificationModel
import Testing
import TestSupport

@Suite("Requests")
struct RequestTests {
    private let key: NotificationKey

    init() throws {
        key = try NotificationKey(application: "shop", recipient: "user-42", identifier: "order-1001")
    }

    private func request(_ json: String) throws -> ScannedRequest {
        guard case .request(let request) = try RequestRecord.scan(bytes(json), key: key) else {
            throw ModelError(.invalid, "a removal")
        }
        return request
    }

    @Test("the scan returns the content's exact bytes and the values in their units")
    func scanned() throws {
        let json =
            #" { "content" : {"title":"}\"{"} , "version":9, "collapseWindow":0.0105,"expiration":"2026-12-01T17:00:00+08:00","requestId":"x" } "#
        let scanned = try request(json)
        #expect(text(bytes(json)[scanned.content]) == #"{"title":"}\"{"}"#)
        #expect(scanned.version == 9)
        #expect(scanned.collapseWindow == 11)
        #expect(scanned.expiration?.rfc3339 == "2026-12-01T09:00:00.000Z")
        #expect(scanned.requestID == (try RequestID(text: "x")))
        #expect(scanned.trigger == .push)
    }

    @Test(
        "intervals become milliseconds, rounded up except for binary noise",
        arguments: [
            (0.5, 500), (0.0001, 1), (0.07, 70), (1.001, 1001), (3600, 3_600_000), (60.0001, 60_001),
            (316_224_000, 316_224_000_000),
        ] as [(Double, Int64)]
    )
    func milliseconds(_ seconds: Double, _ expected: Int64) {
        #expect(TimeIntervalTrigger(timeInterval: seconds).intervalMilliseconds == expected)
    }

    @Test(
        "numbers are read exactly as the standard library reads them",
        arguments: [
            "0.1", "3600.25", "1e2", "123456.789e-3", "0.30000000000000004", "9007199254740993", "1E0",
            "59.999999999999999999999", "86400.000",
        ]
    )
    func decimals(_ number: String) throws {
        let scanned = try? request(
            #"{"content":{"title":"t"},"trigger":{"type":"timeInterval","timeInterval":\#(number)}}"#
        )
        if let expected = Double(number), expected <= ModelLimits.timeInterval {
            #expect(scanned?.trigger == .timeInterval(TimeIntervalTrigger(timeInterval: expected)))
        } else {
            #expect(scanned == nil)
        }
    }

    @Test("any valid request that a program builds can be scanned, and reads back equal")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let request = try RandomRequest.make(using: &generator)
            let again = try NotificationRequest(json: request.json, key: request.key)
            #expect(again == request, "\(text(request.json))")
        }
    }

    @Test("an invalid request that a program builds is refused before it is published")
    func validate() throws {
        var request = NotificationRequest(key: key, content: NotificationContent(title: "t", badge: -1))
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "content.badge")
        request.content.badge = nil
        request.trigger = .timeInterval(TimeIntervalTrigger(timeInterval: .nan))
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "trigger.timeInterval")
        request.trigger = .timeInterval(TimeIntervalTrigger(timeInterval: .infinity))
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "trigger.timeInterval")
        request.trigger = .timeInterval(TimeIntervalTrigger(timeInterval: 59, repeats: true))
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "trigger.timeInterval")
        request.trigger = .push
        request.content.userInfo = .string("x")
        #expect(failure { () throws(ModelError) in try request.validate() }?.field == "content.userInfo")
    }

    @Test("removals read back equal, and requests and removals are not confused")
    func removals() throws {
        let whole = try NotificationKey(application: "shop", recipient: "u", identifier: "")
        for scope in RemovalScope.allCases {
            let removal = NotificationRemoval(requestID: try RequestID(text: "r"), key: whole, version: 3, scope: scope)
            #expect(try NotificationRemoval(json: removal.json, key: whole) == removal)
            #expect(
                failure { () throws(ModelError) in try NotificationRequest(json: removal.json, key: whole) }?.field
                    == "remove"
            )
        }
        let request = NotificationRequest(key: key, content: NotificationContent(body: "b"))
        #expect(
            failure { () throws(ModelError) in try NotificationRemoval(json: request.json, key: key) }?.field
                == "content"
        )
    }

    @Test("under its key a removal has the same members without the key's")
    func removalUnderItsKey() throws {
        var removal = NotificationRemoval(requestID: try RequestID(text: "r\"1"), key: key, version: 3, scope: .pending)
        #expect(text(removal.recordValue) == #"{"requestId":"r\"1","version":3,"remove":"pending"}"#)
        #expect(try NotificationRemoval(json: removal.recordValue, key: key) == removal)
        (removal.requestID, removal.version) = (nil, nil)
        #expect(text(removal.recordValue) == #"{"remove":"pending"}"#)
        #expect(
            text(removal.json)
                == #"{"application":"shop","recipient":"user-42","identifier":"order-1001","remove":"pending"}"#
        )
    }

    @Test("a body becomes a record with the id and the key before its own members")
    func body() throws {
        let body = bytes(" {\n \"version\": 2, \"content\": {\"body\": \"{\"}} ")
        _ = try RequestRecord.scan(body: body, key: key)
        let value = RequestRecord.value(body: body, key: key, requestID: try RequestID(text: "r"))
        #expect(
            text(value) == #"{"requestId":"r","application":"shop","recipient":"user-42","identifier":"order-1001","#
                + "\n \"version\": 2, \"content\": {\"body\": \"{\"}} "
        )
        #expect(try request(text(value)).version == 2)
    }
}

@Suite("JSON values")
struct JSONValueTests {
    @Test("members keep their order, numbers their text, and of equal names the last counts")
    func parse() throws {
        let value = try JSONValue.parse(bytes(#" {"b":1.50,"a":[null,true,"x\u00e9\ud83d\udce6"],"b":2E+3} "#))
        #expect(text(value.json) == #"{"b":1.50,"a":[null,true,"xé📦"],"b":2E+3}"#)
        #expect(value["b"] == .number("2E+3"))
        #expect(value["b"]?.doubleValue == 2000)
    }

    @Test("paths follow names and indices")
    func paths() throws {
        let value = try JSONValue.parse(bytes(#"{"data":{"items":[{"name":"x"},{"n":2}],"0":"zero","":1}}"#))
        #expect(value.value(at: "data.items.0.name")?.stringValue == "x")
        #expect(value.value(at: "data.items.1.n")?.integerValue == 2)
        #expect(value.value(at: "data.0")?.stringValue == "zero")
        #expect(value.value(at: ["data", ""])?.integerValue == 1)
        #expect(value.value(at: "") == value)
        for path in ["data.items.2", "data.items.-1", "data.items.x", "data.missing", "data.items.0.name.x", ".data"] {
            #expect(value.value(at: path) == nil, "\(path)")
        }
    }

    @Test("escaped strings read back equal")
    func strings() throws {
        let all = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init))) + "\u{2028}📦"
        var out: [UInt8] = []
        JSONWriter.append(string: all, to: &out)
        #expect(try JSONValue.parse(out) == .string(all))
        #expect(!out.contains { $0 < 0x20 })
    }

    @Test(
        "numbers are written as JSON",
        arguments: [
            (0, "0"), (1, "1"), (-3, "-3"), (0.5, "0.5"), (1e300, "1e+300"), (.nan, "0"), (-.infinity, "0"), (60, "60"),
        ] as [(Double, String)]
    )
    func numbers(_ number: Double, _ written: String) throws {
        var out: [UInt8] = []
        JSONWriter.append(number: number, to: &out)
        #expect(text(out) == written)
        #expect(try JSONValue.parse(out).doubleValue == (number.isFinite ? number : 0))
    }
}
