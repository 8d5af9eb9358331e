// The standard library's `withUnsafeBytes` loses the type of the error; `withUnsafeBufferPointer` keeps it.

extension Array where Element == UInt8 {
    /// Calls the body with the bytes, which are borrowed until it returns.
    @inlinable @inline(__always)
    public func borrowed<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        try withUnsafeBufferPointer { bytes throws(ModelError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

extension ArraySlice where Element == UInt8 {
    /// Calls the body with the bytes, which are borrowed until it returns.
    @inlinable @inline(__always)
    public func borrowed<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        try withUnsafeBufferPointer { bytes throws(ModelError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares eight bytes at a time.
    @inlinable @inline(__always)
    public func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index &+ 8 <= count {
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard word == other.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index &+= 8
        }
        while index < count {
            guard self[index] == other[index] else { return false }
            index &+= 1
        }
        return true
    }
}
