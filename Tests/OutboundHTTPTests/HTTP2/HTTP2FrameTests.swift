import NIOCore
import NIOHPACK
import NotificationModel
import Testing

@testable import OutboundHTTP

/// Frames as bytes: what a client reads, refuses and writes.
struct HTTP2FrameTests {
    private typealias Reader = HTTP2FrameReader

    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + (0..<4).map { UInt8(stream >> (24 - 8 * UInt32($0)) & 0xFF) } + payload
    }

    private static let settings = frame(4)

    /// A short form of each frame.
    private static func read(_ bytes: [UInt8], pieces: Int = .max) throws(HTTP2ProtocolError) -> [String] {
        var reader = Reader()
        var found: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(ByteBuffer(bytes: rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let frame = try reader.next() { found.append(text(frame)) }
        }
        return found
    }

    private static func text(_ frame: Reader.Frame) -> String {
        switch frame {
        case .data(let stream, let bytes, let size, let isLast):
            "data \(stream) \(Array(bytes.readableBytesView)) \(size) \(isLast)"
        case .headers(let stream, let fields, let isLast):
            "headers \(stream) \(fields.map { "\($0.name)=\($0.value)" }) \(isLast)"
        case .reset(let stream, let code): "reset \(stream) \(code)"
        case .settings(let settings): "settings \(settings.map { "\($0.id)=\($0.value)" })"
        case .ping(let data, let isAck): "ping \(data) \(isAck)"
        case .goAway(let last, let code, let data): "goaway \(last) \(code) \(String(buffer: data))"
        case .windowUpdate(let stream, let increment): "window \(stream) \(increment)"
        }
    }

    private static let all: [UInt8] =
        frame(4, [0, 3, 0, 0, 0, 100, 0, 4, 0, 0, 1, 0])
        + frame(4, flags: 1)
        + frame(8, [0x80, 0, 0, 5])
        + frame(1, flags: 0x24, stream: 1, [0, 0, 0, 0, 7, 0x88])
        + frame(0, flags: 0x8, stream: 1, [2, 65, 66, 0, 0])
        + frame(0, flags: 0x1, stream: 1, [67])
        + frame(2, stream: 1, [0, 0, 0, 0, 1])
        + frame(0xB7, [1, 2, 3])
        + frame(1, flags: 0x9, stream: 3, [1, 0x88, 0])
        + frame(9, stream: 3, [0x0F, 0x0D])
        + frame(9, flags: 0x4, stream: 3, [1, 0x37])
        + frame(3, stream: 5, [0, 0, 0, 7])
        + frame(6, [0, 0, 0, 0, 0, 0, 1, 0])
        + frame(6, flags: 1, [0, 0, 0, 0, 0, 0, 0, 9])
        + frame(7, [0x80, 0, 0, 9, 0, 0, 0, 2, 104, 105])

    private static let texts = [
        #"settings ["3=100", "4=256"]"#, "window 0 5", #"headers 1 [":status=200"] false"#, "data 1 [65, 66] 5 false",
        "data 1 [67] 1 true", #"headers 3 [":status=200", "content-length=7"] true"#, "reset 5 7", "ping 256 false",
        "ping 9 true", "goaway 9 2 hi",
    ]

    @Test(arguments: [Int.max, 1, 2, 3, 7, 10]) func `frames are read however their bytes arrive`(pieces: Int) throws {
        #expect(try Self.read(Self.all, pieces: pieces) == Self.texts)
    }

    @Test(
        arguments: [
            (frame(6, [0, 0, 0, 0, 0, 0, 0, 0]), 1 as UInt32, "before SETTINGS"),
            (frame(4, flags: 1), 1, "before SETTINGS"),
            (settings + [0, 0x40, 1, 0, 0, 0, 0, 0, 1], 6, "a frame of 16,385 bytes, from its head alone"),
            (settings + frame(0, stream: 0, [1]), 1, "DATA without a stream"),
            (settings + frame(0, flags: 8, stream: 1, [2, 1]), 1, "more padding than bytes"),
            (settings + frame(0, flags: 8, stream: 1), 1, "no padding length"),
            (settings + frame(1, flags: 4, stream: 0, [0x88]), 1, "HEADERS without a stream"),
            (settings + frame(1, flags: 0x24, stream: 1, [0, 0, 0]), 6, "no priority"),
            (settings + frame(1, flags: 4, stream: 1, [0xFF, 0xFF, 0xFF]), 9, "no HPACK"),
            (settings + frame(1, stream: 1, [0x88]) + frame(0, stream: 1, [1]), 1, "no CONTINUATION"),
            (settings + frame(1, stream: 1, [0x88]) + frame(9, flags: 4, stream: 3), 1, "another's CONTINUATION"),
            (settings + frame(9, flags: 4, stream: 1), 1, "CONTINUATION alone"),
            (settings + frame(3, stream: 0, [0, 0, 0, 0]), 1, "RST_STREAM without a stream"),
            (settings + frame(3, stream: 1, [0, 0, 0]), 6, "a short RST_STREAM"),
            (settings + frame(4, [0, 1, 0, 0, 0]), 6, "short SETTINGS"),
            (settings + frame(4, flags: 1, [0, 1, 0, 0, 0, 0]), 6, "an ACK with SETTINGS"),
            (settings + frame(4, stream: 1), 1, "SETTINGS with a stream"),
            (settings + frame(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x88]), 1, "PUSH_PROMISE"),
            (settings + frame(6, [0, 0, 0, 0, 0, 0, 0]), 6, "a short PING"),
            (settings + frame(6, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]), 1, "PING with a stream"),
            (settings + frame(7, [0, 0, 0, 0, 0, 0]), 6, "a short GOAWAY"),
            (settings + frame(7, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]), 1, "GOAWAY with a stream"),
            (settings + frame(8, [0, 0, 1]), 6, "a short WINDOW_UPDATE"),
        ]
    )
    func `what RFC 9113 forbids is refused with its code`(bytes: [UInt8], code: UInt32, what: String) {
        let error = #expect(throws: HTTP2ProtocolError.self, "\(what)") { try Self.read(bytes) }
        #expect(error?.code == code, "\(what)")
    }

    @Test func `fields are bounded, compressed and uncompressed, and in frames`() {
        // One field of 4,000 bytes, put into the table and named 200 times.
        let value = [UInt8](repeating: 97, count: 4000)
        let bomb = [0x40, 1, 98, 0x7F, 0xA1, 0x1E] + value + [UInt8](repeating: 0xBE, count: 200)
        var error = #expect(throws: HTTP2ProtocolError.self) {
            try Self.read(Self.settings + Self.frame(1, flags: 4, stream: 1, bomb))
        }
        #expect(error?.code == HTTP2Wire.ErrorCode.compressionError)
        let flood = (0..<20).flatMap { _ in Self.frame(9, stream: 1) }
        error = #expect(throws: HTTP2ProtocolError.self) {
            try Self.read(Self.settings + Self.frame(1, stream: 1) + flood)
        }
        #expect(error?.code == HTTP2Wire.ErrorCode.enhanceYourCalm)
        let large = (0..<5).flatMap { _ in Self.frame(9, stream: 1, [UInt8](repeating: 0, count: 16_384)) }
        error = #expect(throws: HTTP2ProtocolError.self) {
            try Self.read(Self.settings + Self.frame(1, stream: 1) + large)
        }
        #expect(error?.code == HTTP2Wire.ErrorCode.enhanceYourCalm)
    }

    @Test func `no bytes trap`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3000 {
            var bytes = Self.all
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(.random(in: 0...255, using: &random), at: place)
                }
            }
            let found = (try? Self.read(bytes, pieces: 50)) ?? []
            #expect(found.count <= bytes.count / 9)
        }
    }

    // MARK: - Writing

    /// What a server of the tests reads of it: the reader of a client, to which a client is no server.
    private static func frames(_ writer: inout HTTP2FrameWriter) throws -> [String] {
        try read(settings + Array(writer.take().readableBytesView)).dropFirst().map { $0 }
    }

    @Test func `fields that are longer than a frame go out in several`() throws {
        var writer = HTTP2FrameWriter()
        let fields = HPACKHeaders(
            [(":status", "200")] + (0..<10).map { ("x-\($0)", String(repeating: "v", count: 1500)) }
        )
        try writer.headers(HTTP2Fields(fields), stream: 1, isLast: true)
        let whole = Array(writer.take().readableBytesView)
        #expect(whole.count < 16_384)
        let long = HPACKHeaders((0..<12).map { ("y-\($0)", String(repeating: "v", count: 3000)) })
        try writer.headers(HTTP2Fields(long), stream: 3, isLast: false)
        let parts = Array(writer.take().readableBytesView)
        #expect(parts[3] == 1 && parts[4] == 0, "HEADERS, neither the last of the fields nor of the stream")
        #expect(Array(parts[0..<3]) == [0, 0x40, 0])
        let second = Array(parts[(9 + 16_384)...])
        #expect(second[3] == 9 && second[4] == 0)
        let third = Array(second[(9 + 16_384)...])
        #expect(third[3] == 9 && third[4] == 4)
    }

    @Test func `shared fields become indices and own ones literals, whatever enters the table or leaves it`() throws {
        let shared = (0..<12).map { number in
            HTTP2Fields.Shared(
                HPACKHeaders([(":method", "POST"), (":authority", "\(number).example")]),
                HPACKHeaders([("topic", String(repeating: "t", count: 40 * number)), ("type", "alert")])
            )
        }
        var (writer, reader) = (HTTP2FrameWriter(), Reader())
        reader.append(ByteBuffer(bytes: Self.settings))
        _ = try reader.next()
        var random = SplitMix64(seed: 7)
        var sizes: [Int] = []
        for step in 0..<2000 {
            if step % 97 == 96 { try writer.allowTable(of: [0, 64, 300, 4096].randomElement(using: &random) ?? 0) }
            let number = step < 3 ? 1 : Int.random(in: 0..<12, using: &random)
            let length = step < 3 ? 1 : [0, 1, 126, 127, 128, 254, 255, 256, 500].randomElement(using: &random) ?? 0
            let value = String(repeating: "v", count: length)
            var fields = HTTP2Fields(shared[number], path: "/device/", value, size: 8)
            if step % 3 > 0 { fields.authorize(value) }
            fields.add("id", value)
            try writer.headers(fields, stream: 2 * step + 1, isLast: true)
            let bytes = writer.take()
            sizes.append(bytes.readableBytes)
            reader.append(bytes)
            guard case .headers(_, let read, _)? = try reader.next() else {
                Issue.record("no fields of \(step)")
                return
            }
            let topic = String(repeating: "t", count: 40 * number)
            let expected =
                [":method: POST", ":authority: \(number).example", ":path: /device/\(value)", "topic: \(topic)"]
                + ["type: alert"] + (step % 3 > 0 ? ["authorization: \(value)"] : []) + ["id: \(value)"]
            #expect(read.map { "\($0.name): \($0.value)" } == expected, "\(step)")
        }
        // The head of the frame, four indices, `:path`, `authorization`, and the field `id`.
        #expect(sizes[1] == 9 + 4 + (2 + 9) + (3 + 1) + (2 + 2 + 1 + 1) && sizes[2] == sizes[1])
    }

    @Test(arguments: [
        ("a", true), ("", true), ("a b", true), ("a\nb", false), ("a\r", false), ("a\0", false), (" a", false),
    ])
    func `a value that would end a field cannot be sent`(value: String, isAllowed: Bool) {
        let shared = HTTP2Fields.Shared(HPACKHeaders([(":method", "POST")]))
        var (one, other) = (HTTP2Fields(shared), HTTP2Fields(shared))
        one.add("x", value)
        other.authorize(value)
        let path = HTTP2Fields(shared, path: "/", value, size: 0)
        #expect(one.areSendable == isAllowed && other.areSendable == isAllowed)
        #expect(path.areSendable == isAllowed)
        #expect(HTTP2Fields(HTTP2Fields.Shared([:], HPACKHeaders([("x", value)]))).areSendable == isAllowed)
    }

    @Test func `bodies wait for the window of the stream and of the connection, and leave in pieces`() throws {
        var (windows, writer) = (HTTP2SendWindows(), HTTP2FrameWriter())
        func sizes() throws -> [String] {
            try Self.frames(&writer).map { $0.split(separator: " ") }.map {
                "\($0[1]) \($0[$0.count - 2]) \($0[$0.count - 1])"
            }
        }
        try windows.set(streamWindow: 20_000, &writer)
        windows.send(ByteBuffer(repeating: 1, count: 30_000), stream: 1, &writer)
        #expect(try sizes() == ["1 16384 false", "1 3616 false"])
        windows.send(ByteBuffer(repeating: 2, count: 10), stream: 3, &writer)
        #expect(try sizes() == ["3 10 true"], "it does not wait for the other's stream")
        try windows.update(1, by: 5000, &writer)
        #expect(try sizes() == ["1 5000 false"])
        try windows.set(streamWindow: 100_000, &writer)
        #expect(try sizes() == ["1 5000 true"])
        windows.send(ByteBuffer(repeating: 3, count: 40_000), stream: 5, &writer)
        _ = try sizes()
        #expect(windows.window == 0)
        windows.send(ByteBuffer(repeating: 4, count: 100), stream: 7, &writer)
        windows.send(ByteBuffer(), stream: 9, &writer)
        #expect(try sizes() == ["9 0 true"], "nothing needs no window")
        try windows.update(by: 4470, &writer)
        #expect(try sizes() == ["5 4470 false"], "first come first served")
        #expect(windows.end(5) == 5)
        try windows.update(by: 1000, &writer)
        #expect(try sizes() == ["7 100 true"])
        #expect(windows.window == 900 && windows.end(7) == 0)
    }

    @Test func `windows that RFC 9113 forbids are refused`() throws {
        var (windows, writer) = (HTTP2SendWindows(), HTTP2FrameWriter())
        #expect(throws: HTTP2ProtocolError.self) { try windows.update(by: 0, &writer) }
        #expect(throws: HTTP2ProtocolError.self) { try windows.set(streamWindow: Int(UInt32.max), &writer) }
        let error = #expect(throws: HTTP2ProtocolError.self) { try windows.update(by: Int(Int32.max), &writer) }
        #expect(error?.code == HTTP2Wire.ErrorCode.flowControlError)
    }

    @Test func `fields that would begin others are not sent`() {
        func areSendable(_ name: String, _ value: String) -> Bool {
            HTTP2Fields(HPACKHeaders([(name, value)])).areSendable
        }
        for (name, value) in [
            ("x-a", "b"), (":path", "/a:b"), ("x", ""), ("x", "a b\tc"), ("x", "\u{E4}"), ("apns-id", "a:b"),
        ] { #expect(areSendable(name, value), "\(name): \(value)") }
        for (name, value) in [
            ("", "b"), ("X-a", "b"), ("x a", "b"), ("x:a", "b"), ("x\u{E4}", "b"), ("x\n", "b"), (":", "b"),
            ("x", "a\rb"),
            ("x", "a\nb"), ("x", "a\0b"), ("x", " a"), ("x", "a "), ("x", "\ta"), ("::a", "b"), ("x\u{7F}", "a"),
        ] { #expect(!areSendable(name, value), "\(name): \(value)") }
    }
}
