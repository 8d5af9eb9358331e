/// A member's name: scanned bytes, or a constant.
///
/// It is the raw type of an enumeration of an object's fields, `enum Field: FieldName { case number, by }`. Each name
/// is written once: the compiler derives the reader's lookup and the writer's name from it.
public struct FieldName: Equatable, ExpressibleByStringLiteral {
    /// Its UTF-8, borrowed.
    public let bytes: UnsafeRawBufferPointer

    /// A name in scanned bytes, which must outlive it.
    @inlinable @inline(__always)
    public init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// A constant name.
    @inlinable @inline(__always)
    public init(stringLiteral name: StaticString) {
        bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    /// The name as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether both have the same bytes: names are not normalized.
    @inlinable @inline(__always)
    public static func == (left: FieldName, right: FieldName) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        for index in 0..<left.bytes.count where left.bytes[index] != right.bytes[index] {
            return false
        }
        return true
    }
}

extension JSONScanner {
    /// Converts a member's name to a field; nil for an unknown name.
    @inlinable @inline(__always)
    public func field<Field>(_ key: JSONStringToken, _ lookUp: (FieldName) -> Field?) throws(ModelError) -> Field? {
        try withBytes(key) { bytes throws(ModelError) in lookUp(FieldName(bytes: bytes)) }
    }

    /// The field with this name; nil for an unknown name.
    @inlinable @inline(__always)
    public func field<Field: RawRepresentable<FieldName>>(_ key: JSONStringToken, of fields: Field.Type)
        throws(ModelError)
        -> Field?
    {
        try field(key) { name in Field(rawValue: name) }
    }

    /// The value of a required field.
    @inlinable @inline(__always)
    public func required<Value>(_ value: Value?, _ field: some RawRepresentable<FieldName>) throws(ModelError) -> Value
    {
        guard let value else { throw missing(field.rawValue.text) }
        return value
    }
}
