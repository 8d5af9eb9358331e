import Foundation
import NotificationModel
import Testing
import TestSupport

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "RFC 3339 is read with any offset and written in UTC with milliseconds",
        arguments: [
            ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00.000Z"),
            ("2026-11-21t09:00:00.5z", "2026-11-21T09:00:00.500Z"),
            ("2026-11-21T17:00:00.1239999+08:00", "2026-11-21T09:00:00.123Z"),
            ("2026-11-20T23:30:00-09:30", "2026-11-21T09:00:00.000Z"),
            ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
            ("2016-12-31T18:59:60.9-05:00", "2017-01-01T00:00:00.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ]
    )
    func reads(_ read: String, _ written: String) {
        #expect(Timestamp(rfc3339: read)?.rfc3339 == written)
        #expect(Timestamp(rfc3339: bytes(read))?.rfc3339 == written)
    }

    @Test(
        "text that is not RFC 3339 is refused",
        arguments: [
            "", "2026-11-21", "2026-11-21T09:00:00", "2026-11-21 09:00:00Z", "2026-11-21T09:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
            "2026-11-21T24:00:00Z", "2026-11-21T09:60:00Z", "2026-11-21T09:00:61Z", "2026-11-21T09:00:60Z",
            "2026-11-21T09:00:00.Z", "2026-11-21T09:00:00+0800", "2026-11-21T09:00:00+24:00", "2026-11-21T09:00:00Zx",
            "2026-11-21T09:00:00+08:00x", "٢٠٢٦-11-21T09:00:00Z", "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "2026-11-21T09:00:00." + String(repeating: "1", count: 60) + "Z",
        ]
    )
    func refused(_ text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("dates agree with Foundation over four centuries")
    func oracle() {
        var generator = SeededGenerator(seed: 7)
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        for _ in 0..<2000 {
            // Foundation's formatter is Julian before 1582.
            let value = Int64.random(in: -6_000_000_000_000...9_000_000_000_000, using: &generator) / 1000 * 1000
            let stamp = Timestamp(rawValue: value)
            #expect(formatter.string(from: Date(timeIntervalSince1970: Double(value) / 1000)) == stamp.rfc3339)
            #expect(Timestamp(rfc3339: stamp.rfc3339) == stamp)
        }
    }

    @Test("instants outside the years 0000 to 9999 are written as the nearest one inside, and sums saturate")
    func ends() {
        #expect(Timestamp(rawValue: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(rawValue: .min).rfc3339 == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(rawValue: .max).adding(milliseconds: 1).rawValue == .max)
        #expect(Timestamp(rawValue: .min).adding(milliseconds: -1).rawValue == .min)
    }

    @Test("it is coded as RFC 3339")
    func coded() throws {
        let stamp = Timestamp(rawValue: 1_795_251_600_000)
        #expect(text(try JSONEncoder().encode([stamp])) == "[\"2026-11-21T09:00:00.000Z\"]")
        #expect(try JSONDecoder().decode([Timestamp].self, from: Data(bytes("[\"2026-11-21T09:00:00Z\"]"))) == [stamp])
    }
}
