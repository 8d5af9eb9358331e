import Foundation

/// What an older version has written to the topic `state`: the files `Fixtures/state/COMMIT/records.tsv` of the model's tests.
package enum WrittenState {
    /// - Parameter commit: of the version.
    /// - Returns: keys and values, in no particular order.
    package static func records(of commit: String) throws -> [(key: [UInt8], value: [UInt8])] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appendingPathComponent("NotificationModelTests/Fixtures/state/\(commit)/records.tsv")
        return try Data(contentsOf: file).split(separator: 0x0A).map { line in
            let tab = line.firstIndex(of: 0x09) ?? line.endIndex
            return (Array(line[..<tab]), Array(line[tab...].dropFirst()))
        }
    }
}
