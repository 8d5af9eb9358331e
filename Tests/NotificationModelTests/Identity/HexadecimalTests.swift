import Testing

@testable import NotificationModel

@Suite("Hexadecimal digits, eight at a time")
struct HexadecimalTests {
    private static func word(_ text: String) -> UInt64 { text.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    @Test("A number is written with all its digits and read again")
    func numbers() {
        var generator = SystemRandomNumberGenerator()
        let edges: [UInt32] = [0, 1, 9, 10, 15, 16, 0x0123_4567, 0x89AB_CDEF, .max]
        for number in edges + (0..<1000).map({ _ in generator.next() }) {
            let digits = String(number, radix: 16)
            let expected = Self.word(String(repeating: "0", count: 8 - digits.count) + digits)
            #expect(Hexadecimal.digits(of: number) == expected)
            #expect(Hexadecimal.value(of: expected) == number)
        }
    }

    @Test("Only digits and the letters a to f are read, at each place", arguments: 0..<8)
    func others(_ place: Int) {
        for byte in UInt8.min...UInt8.max {
            let isDigit = "0123456789abcdef".utf8.contains(byte)
            let shift = UInt64(place * 8)
            let word = Self.word("09afe5b1") & ~(0xFF << shift) | UInt64(byte) << shift
            #expect((Hexadecimal.value(of: word) != nil) == isDigit, "\(byte)")
        }
    }
}
