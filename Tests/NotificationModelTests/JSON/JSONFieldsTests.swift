import Testing

@testable import NotificationModel

@Suite("fields of a JSON object")
struct JSONFieldsTests {
    private enum Field: FieldName {
        case first, second, third
    }

    private enum OnlyField: FieldName {
        case only
    }

    private func read<Result>(
        _ json: String,
        _ body: (inout JSONScanner) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        try JSONScanner.read(Array(json.utf8), atMost: 1000, body)
    }

    private func fields(of json: String, from origin: JSONOrigin) throws(ModelError) -> [String] {
        var read: [String] = []
        let seen = try self.read(json) { scanner throws(ModelError) in
            try scanner.object(of: Field.self, from: origin) { scanner, field throws(ModelError) in
                read.append("\(field) \(try scanner.integer(in: 0...9))")
            }
        }
        #expect(seen.isEmpty == read.isEmpty)
        for field in [Field.first, .second, .third] {
            #expect(seen.contains(field) == read.contains { $0.hasPrefix("\(field)") })
        }
        return read
    }

    @Test("the body gets the fields in the order of the text", arguments: [JSONOrigin.record, .body, .state])
    func order(_ origin: JSONOrigin) throws {
        #expect(try fields(of: #"{"third":3,"first":1}"#, from: origin) == ["third 3", "first 1"])
        #expect(try fields(of: "{}", from: origin).isEmpty)
    }

    @Test("a field that is there twice is refused by its name, also one that is the only one")
    func twice() throws {
        #expect(throws: ModelError(.invalid, field: "second", "appears twice")) {
            try fields(of: #"{"second":1,"first":1,"second":1}"#, from: .record)
        }
        // One that is written with escapes is the same.
        #expect(throws: ModelError(.invalid, field: "first", "appears twice")) {
            try fields(of: #"{"first":1,"f\u0069rst":1}"#, from: .state)
        }
        #expect(throws: ModelError(.invalid, field: "only", "appears twice")) {
            try read(#"{"only":1,"only":1}"#) { scanner throws(ModelError) in
                try scanner.object(of: OnlyField.self, from: .record) { scanner, _ throws(ModelError) in
                    try scanner.skipValue()
                }
            }
        }
    }

    @Test("a body with an unknown field is refused; in a record and in the state it is passed over")
    func unknown() throws {
        let json = #"{"first":1,"colour":{"first":2},"second":2}"#
        #expect(throws: ModelError(.unknownField, field: "colour", "is not a field of this object")) {
            try fields(of: json, from: .body)
        }
        for origin in [JSONOrigin.record, .state] {
            #expect(try fields(of: json, from: origin) == ["first 1", "second 2"])
        }
    }

    @Test("unknown members can have a body of their own")
    func others() throws {
        var names: [String] = []
        _ = try read(#"{"colour":1,"first":1,"size":1,"size":1}"#) { scanner throws(ModelError) in
            try scanner.object(
                of: Field.self,
                { scanner, name throws(ModelError) in
                    names.append(scanner.materialise(name))
                    try scanner.skipValue()
                }
            ) { scanner, _ throws(ModelError) in try scanner.skipValue() }
        }
        #expect(names == ["colour", "size", "size"])
    }

    @Test("the first field that is missing is named")
    func required() throws {
        let seen = try read(#"{"second":1}"#) { scanner throws(ModelError) in
            try scanner.object(of: Field.self, from: .body) { scanner, _ throws(ModelError) in try scanner.skipValue() }
        }
        try seen.require(.second)
        #expect(throws: ModelError(.invalid, field: "third", "is missing")) {
            try seen.require(.second, .third, .first)
        }
    }
}
