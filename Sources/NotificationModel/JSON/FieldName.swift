/// A member's name: scanned bytes, or a constant.
///
/// It is the raw type of an enumeration of an object's fields, `enum Field: FieldName { case number, by }`. Each name
/// is written once: the compiler derives the reader's lookup and the writer's name from it.
package struct FieldName: Equatable, ExpressibleByStringLiteral {
    package let bytes: UnsafeRawBufferPointer

    @inline(__always)
    package init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    @inline(__always)
    package init(stringLiteral name: StaticString) {
        bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    @inline(__always)
    package static func == (left: FieldName, right: FieldName) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        for index in 0..<left.bytes.count where left.bytes[index] != right.bytes[index] {
            return false
        }
        return true
    }
}

extension JSONScanner {
    /// Converts a member's name to a field; nil for an unknown name.
    @inline(__always)
    package func field<Field>(_ key: JSONStringToken, _ lookUp: (FieldName) -> Field?) throws(ModelError) -> Field? {
        try withBytes(key) { bytes throws(ModelError) in lookUp(FieldName(bytes: bytes)) }
    }

    /// The field with this name; nil for an unknown name.
    @inline(__always)
    package func field<Field: RawRepresentable<FieldName>>(_ key: JSONStringToken, of fields: Field.Type)
        throws(ModelError)
        -> Field?
    {
        try field(key) { name in Field(rawValue: name) }
    }

    /// The value of a required field.
    @inline(__always)
    package func required<Value>(_ value: Value?, _ field: some RawRepresentable<FieldName>) throws(ModelError) -> Value
    {
        guard let value else { throw missing(field.rawValue.text) }
        return value
    }
}
