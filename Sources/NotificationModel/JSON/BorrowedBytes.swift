// The standard library's `withUnsafeBytes` forgets the type of the error; these keep it.

extension Array where Element == UInt8 {
    @inline(__always)
    func borrowed<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        let result: Result<Value, ModelError> = withUnsafeBytes { bytes in
            do throws(ModelError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension ArraySlice where Element == UInt8 {
    @inline(__always)
    func borrowed<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        let result: Result<Value, ModelError> = withUnsafeBytes { bytes in
            do throws(ModelError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
