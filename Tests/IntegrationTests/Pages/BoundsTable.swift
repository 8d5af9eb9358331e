import Foundation
import Testing

/// The table of the page of bounds.
struct BoundsTable {
    struct Row {
        var key: String
        /// As one would write it; nil when it depends on the machine.
        var defaultValue: String?
        /// nil if the log reports it.
        var metric: String?
    }

    let rows: [Row]

    init() throws {
        rows = try Page.bounds().table(under: "Bounds that are settings").map { cells in
            try #require(cells.count == 4, "\(cells)")
            let key = try #require(Page.code(cells[0]), "\(cells)")
            return Row(key: key, defaultValue: Page.code(cells[1]), metric: Page.code(cells[3]))
        }
    }
}
