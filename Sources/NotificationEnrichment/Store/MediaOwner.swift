/// The application that fetched a medium first, as a number that fits into the part of a file's modification time below a
/// millisecond: so it survives a restart, and instances that share the directory see it. Two applications have the same
/// number, and then one share, by a chance of one in a million.
package struct MediaOwner: Hashable, Sendable {
    /// 0 for nobody, else at most 999,999.
    let number: UInt32

    /// Media of nobody have no share: those of the command line, and of older versions.
    static let nobody = MediaOwner(number: 0)

    init(number: UInt32) { self.number = number % 1_000_000 }

    /// - Parameter application: Empty for nobody.
    package init(application: String) {
        guard !application.isEmpty else {
            self = .nobody
            return
        }
        // FNV-1a.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in application.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        self.init(number: UInt32(hash % 999_999) + 1)
    }
}
