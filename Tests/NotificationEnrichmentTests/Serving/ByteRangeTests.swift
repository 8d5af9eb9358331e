import Testing

@testable import NotificationEnrichment

@Suite("Ranges of bytes")
struct ByteRangeTests {
    @Test(
        "a single range is resolved within the medium",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-9", 0..<10), ("bytes=3-5", 3..<6), ("bytes=9-9", 9..<10),
            ("bytes=0-", 0..<10),
            ("bytes=9-", 9..<10), ("bytes=-1", 9..<10), ("bytes=-10", 0..<10), ("bytes=-11", 0..<10),
            ("bytes=5-10", 5..<10), ("bytes=5-99999999999999999999999", 5..<10),
            ("bytes=-99999999999999999999999", 0..<10),
            ("bytes=007-0008", 7..<9), ("BYTES=1-2", 1..<3), ("Bytes= 1-2\t", 1..<3),
            ("bytes=9-9223372036854775807", 9..<10),
        ] as [(String, Range<Int64>)]
    )
    func satisfiable(field: String, expected: Range<Int64>) throws {
        #expect(try #require(ByteRange(field)).resolve(size: 10) == expected)
    }

    @Test(
        "a range without a byte of the medium cannot be satisfied",
        arguments: [
            "bytes=10-", "bytes=10-10", "bytes=11-20", "bytes=-0", "bytes=99999999999999999999999-",
            "bytes=99999999999999999999999-99999999999999999999999", "bytes=9223372036854775807-",
        ]
    )
    func unsatisfiable(field: String) throws {
        #expect(try #require(ByteRange(field)).resolve(size: 10) == nil)
    }

    @Test(
        "several ranges, other units and errors of syntax are no range",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=0-1,3-4", "bytes=0-1,",
            "bytes=,0-1",
            "bytes=1-2-3", "bytes=--1", "bytes=+1-2", "bytes=1- 2", "bytes =1-2", "items=0-1", "=0-1", "bytes:0-1",
            "bytes=0x1-2",
            "bytes=٣-٤", "none",
        ]
    )
    func ignored(field: String) {
        #expect(ByteRange(field) == nil)
    }
}
