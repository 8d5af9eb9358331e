import NotificationModel

/// What the model's writer has for fields, written again: a generic function that is `package` is specialized in its own module only,
/// and an entry is written for nearly each record.
extension JSONObjectWriter {
    @inline(__always)
    mutating func begin(_ field: some RawRepresentable<FieldName>, _ out: inout [UInt8]) {
        begin(field.rawValue, &out)
    }

    @inline(__always)
    mutating func member(
        _ field: some RawRepresentable<FieldName>,
        _ value: (some JSONWritable)?,
        _ out: inout [UInt8]
    ) {
        guard let value else { return }
        begin(field.rawValue, &out)
        value.writeJSON(to: &out)
    }
}
