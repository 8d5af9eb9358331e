import Foundation
import NotificationConsumer
import NotificationModel
import NotificationState

/// The stores on a machine's disk, by partition; they outlive the process.
final class SimulatedDisk {
    struct Contents {
        var position: StorePosition?
        var entries: [[UInt8]: Entry] = [:]
    }

    struct Entry {
        var value: [UInt8]
        var due: Timestamp?
        var touched: Timestamp
        var open: OpenRequests
        /// Orders entries with the same due time.
        var number: Int64
    }

    /// The folder of its files; nil if the stores are only in `contents`.
    let directory: String?
    var contents: [Int32: Contents] = [:]
    /// The number of the next entry.
    var nextNumber: Int64 = 0

    init(directory: String? = nil) { self.directory = directory }

    func erase() {
        contents = [:]
        if let directory { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// Damages the files as a failing disk does: overwrites their beginning, or cuts off their end.
    func damage(_ random: inout SeededGenerator) {
        guard let directory else { return erase() }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] {
            guard name.hasSuffix("sqlite"), let file = FileHandle(forUpdatingAtPath: "\(directory)/\(name)") else {
                continue
            }
            defer { try? file.close() }
            let size = (try? file.seekToEnd()) ?? 0
            if random.chance(500) {
                try? file.truncate(atOffset: size / 2)
            } else {
                try? file.seek(toOffset: 0)
                try? file.write(contentsOf: Data(repeating: 0x5A, count: 64))
            }
        }
    }
}
