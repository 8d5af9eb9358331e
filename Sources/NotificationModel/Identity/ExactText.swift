/// A text that equals what has the same bytes, as in the keys of records. Swift's strings are equal if they are equivalent
/// in Unicode: two spellings of one name would share what is kept under it.
package struct ExactText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.init(text) }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameUTF8(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        var copy = text
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
