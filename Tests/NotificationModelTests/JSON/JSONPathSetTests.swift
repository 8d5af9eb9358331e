import Testing
import TestSupport

@testable import NotificationModel

@Suite("Paths found in one pass")
struct JSONPathSetTests {
    private func find(_ paths: [[String]], in text: String) throws(ModelError) -> [JSONValue?] {
        var set = JSONPathSet()
        let numbers = paths.map { set.insert($0) }
        return try Array(text.utf8).borrowed { bytes throws(ModelError) in
            var matches = [JSONMatch](repeating: JSONMatch(.null, 0, 0), count: set.count)
            var failure: ModelError?
            matches.withUnsafeMutableBufferPointer { buffer in
                do throws(ModelError) { try set.find(in: bytes, into: buffer) } catch { failure = error }
            }
            if let failure { throw failure }
            var values: [JSONValue?] = []
            for number in numbers {
                let match = matches[number]
                var json: [UInt8] = []
                match.appendJSON(in: bytes, to: &json)
                values.append(match.kind == .missing ? nil : try JSONValue.parse(json))
            }
            return values
        }
    }

    @Test("each path finds the same as a lookup in the parsed value, also in random values")
    func asParsed() throws {
        var generator = SeededGenerator(seed: 7)
        let names = ["a", "b", "0", "1", "é", "x y", "\"", ""]
        func value(_ depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
            case 0: return .null
            case 1: return .bool(Bool.random(using: &generator))
            case 2: return .number(["0", "-1.5e3", "12345678901234567890"].randomElement(using: &generator) ?? "0")
            case 3: return .string(["", "text", "\"\\\n\u{1}", "é𝄞"].randomElement(using: &generator) ?? "")
            case 4: return .array([])
            case 5: return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth - 1) })
            default:
                return .object(
                    (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                        JSONValue.Member(names.randomElement(using: &generator) ?? "a", value(depth - 1))
                    }
                )
            }
        }
        for _ in 0..<2_000 {
            let whole = value(4)
            let paths = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in names.randomElement(using: &generator) ?? "" }
            }
            let text = String(decoding: whole.json, as: UTF8.self)
            #expect(try find(paths, in: text) == paths.map { whole.value(at: $0) }, "\(paths) in \(text)")
        }
    }

    @Test("names match with escapes resolved, white space is ignored, and of equal names the last counts")
    func names() throws {
        let text = #" { "\u0061" : { "b" : 1 , "c" : 2 } , "a" : { "b" : [ 1 , { "c" : "x" } ] } } "#
        #expect(
            try find([["a", "b", "1", "c"], ["a", "c"], ["a", "b", "01"]], in: text) == [.string("x"), nil, nil]
        )
    }

    @Test("texts are returned with their escapes resolved")
    func texts() throws {
        let bytes = Array(#"["a\n\u00e9\ud834\udd1e","plain",1.50,true,null]"#.utf8)
        var set = JSONPathSet()
        for index in 0..<5 { _ = set.insert([String(index)]) }
        let found = try bytes.borrowed { bytes throws(ModelError) in
            try withMatches(set, bytes).map { match in
                match.withText(in: bytes) { String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(found == ["a\né𝄞", "plain", "1.50", "true", "null"])
    }

    private func withMatches(_ set: JSONPathSet, _ bytes: UnsafeRawBufferPointer) throws(ModelError) -> [JSONMatch] {
        var matches = [JSONMatch](repeating: .missing, count: set.count)
        var failure: ModelError?
        matches.withUnsafeMutableBufferPointer { buffer in
            do throws(ModelError) { try set.find(in: bytes, into: buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        return matches
    }

    @Test(
        "the elements of a list are returned one by one",
        arguments: ["[]", "[ ]", "[1]", " [ 1 , [2,3] , {\"a\":[]} , \"]\" ] "]
    )
    func elements(text: String) throws {
        var set = JSONPathSet()
        _ = set.insert([])
        let elements = try Array(text.utf8).borrowed { bytes throws(ModelError) in
            var elements = JSONElements(of: try withMatches(set, bytes)[0], in: bytes)
            var values: [JSONValue] = []
            while let range = elements.next() { values.append(try JSONValue.parse(Array(bytes[range]))) }
            return values
        }
        #expect(try JSONValue.parse(Array(text.utf8)) == .array(elements))
    }

    @Test(
        "text that is not JSON is refused as a whole, wherever the mistake is",
        arguments: ["", "{", #"{"a":1}x"#, #"{"b":[1,]}"#, #"{"a":{"b":01}}"#, "{\"a\":\"\u{1}\"}"]
    )
    func notJSON(text: String) {
        let error = #expect(throws: ModelError.self) { try find([["a"]], in: text) }
        #expect(error?.reason == .invalid)
        #expect(throws: ModelError.self) { try JSONValue.parse(Array(text.utf8)) }
    }

    @Test("nesting is bounded, and bytes that are not UTF-8 are refused")
    func bounds() throws {
        let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
        #expect(throws: ModelError.self) { try find([Array(repeating: "0", count: 32)], in: deep) }
        var set = JSONPathSet()
        _ = set.insert(["a"])
        let bytes: [UInt8] = Array("{\"b\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        let error = #expect(throws: ModelError.self) {
            try bytes.borrowed { bytes throws(ModelError) in _ = try withMatches(set, bytes) }
        }
        #expect(error?.reason == .notUTF8)
    }
}
