#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension ArraySlice<UInt8> {
    /// Whether a JSON object may have a field, by a search that costs less than a scan: nearly all contents do not name it. A name
    /// may be written with escapes, so any `\u` counts.
    ///
    /// - Parameters:
    ///   - field: ASCII.
    ///   - place: of the rarest byte of the name, which is looked for first.
    func mayName(_ field: StaticString, around place: Int) -> Bool {
        withUnsafeBytes { $0.hasText(field, around: place) || $0.hasText("\\u", around: 0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a text is in the bytes.
    ///
    /// - Parameters:
    ///   - text: ASCII.
    ///   - place: of its rarest byte, which is looked for first.
    func hasText(_ text: StaticString, around place: Int) -> Bool {
        guard let start = baseAddress else { return false }
        let rarest = Int32(text.utf8Start[place])
        var from = place
        while from < count, let found = memchr(start + from, rarest, count - from) {
            let index = UnsafeRawPointer(found) - start
            let begin = index - place
            if begin + text.utf8CodeUnitCount <= count,
                memcmp(start + begin, text.utf8Start, text.utf8CodeUnitCount) == 0
            {
                return true
            }
            from = index + 1
        }
        return false
    }
}
