import Foundation
import Testing

/// Occurrences of calendar triggers against Python's `zoneinfo` and `dateutil`, which share nothing with the engine but the
/// files of the time zone database.
@Suite("Calendar triggers compared with Python")
struct CalendarOracleTests {
    @Test("random zones, components, policies and times have the same occurrences", arguments: [1, 2])
    func sample(_ seed: Int) async throws {
        let found = try await ChildProcess.run(
            try Tools.python(),
            [Tools.client("calendar/compare.py"), "sample", "--seed", "\(seed)", "--count", "1500"],
            environment: [
                "PYTHONTZPATH": "/usr/share/zoneinfo", "CALENDAR_ORACLE": try Tools.product("calendar-oracle"),
            ]
        )
        #expect(found.outputText.contains("'queries': 1500"), "\(found.outputText)")
        #expect(found.outputText.contains("'mismatches': 0"), "\(found.outputText)")
    }
}
