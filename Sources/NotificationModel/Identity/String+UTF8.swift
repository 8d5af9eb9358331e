extension String {
    /// Compares the bytes: Swift's strings are equal if they are equivalent in Unicode.
    public func hasSameUTF8(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
