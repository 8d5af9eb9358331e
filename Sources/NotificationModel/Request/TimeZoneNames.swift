import Foundation
import Synchronization

/// The names of the IANA time zone database, as Foundation knows them.
enum TimeZoneNames {
    // Only known names are kept, so the database bounds the set.
    private static let known = Mutex<Set<String>>([])

    /// True for a name of the database (`Asia/Shanghai`, `Singapore`, `UTC`); false for offsets such as `GMT+8` and for
    /// ambiguous abbreviations such as `CST`.
    static func isKnown(_ name: String) -> Bool {
        if known.withLock({ $0.contains(name) }) { return true }
        guard name == "UTC" || name == "GMT" || isShapedLikeName(name), TimeZone(identifier: name) != nil else {
            return false
        }
        known.withLock { _ = $0.insert(name) }
        return true
    }

    /// Whether the text has only the characters of names, and either an area or a word in mixed case.
    private static func isShapedLikeName(_ name: String) -> Bool {
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2F, 0x5F: true
            default: false
            }
        }
        guard isName, let first = name.utf8.first, (0x41...0x5A).contains(first) else { return false }
        return name.utf8.contains(0x2F)
            || name.utf8.dropFirst().allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
    }
}
