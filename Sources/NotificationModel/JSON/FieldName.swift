/// A member's name: the bytes of one that is read, or a constant.
///
/// It is the raw type of an enumeration that lists the fields of an object, `enum Field: FieldName { case number, by }`. Each
/// name is there once: the compiler derives from it the look-up for the reader and the name for the writer.
struct FieldName: Equatable, ExpressibleByStringLiteral {
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    @inline(__always)
    init(stringLiteral name: StaticString) {
        bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    @inline(__always)
    static func == (left: FieldName, right: FieldName) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        for index in 0..<left.bytes.count where left.bytes[index] != right.bytes[index] {
            return false
        }
        return true
    }
}

extension JSONScanner {
    /// Turns a member's name into a field, or nil when the object knows none of that name.
    @inline(__always)
    func field<Field>(_ key: JSONText, _ lookUp: (FieldName) -> Field?) throws(ModelError) -> Field? {
        try withBytes(key) { bytes throws(ModelError) in lookUp(FieldName(bytes: bytes)) }
    }

    /// The field of that name in an object's list, or nil when the list has none.
    @inline(__always)
    func field<Field: RawRepresentable<FieldName>>(_ key: JSONText, of fields: Field.Type) throws(ModelError) -> Field?
    {
        try field(key) { name in Field(rawValue: name) }
    }

    /// The value of a field that must be there.
    @inline(__always)
    func required<Value>(_ value: Value?, _ field: some RawRepresentable<FieldName>) throws(ModelError) -> Value {
        guard let value else { throw missing(String(decoding: field.rawValue.bytes, as: UTF8.self)) }
        return value
    }
}
