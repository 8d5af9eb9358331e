import HTTPTesting
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

/// Bad clients of a running service: at the end it works as before.
@Suite("Connections of the API", .timeLimit(.minutes(10)))
struct ConnectionCallTests {
    private static let target = "/v1/recipients/u/notifications/i"
    private static let body = #"{"content":{"body":"x"}}"#

    private static func put(_ headers: [(String, String)] = []) -> [UInt8] {
        RawHTTP.request(
            "PUT",
            target,
            headers: [("content-type", "application/json")] + headers,
            body: Array(body.utf8)
        )
    }

    private func works(_ harness: ProducerHarness) async throws {
        let answer = try await harness.http.put(Self.target, Self.body)
        #expect(answer.status == 202, "\(answer.text)")
    }

    private func refused(_ answer: RawHTTP.Answer, _ status: Int, _ reason: String, _ field: String? = nil) {
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer["reason"] == reason, "\(answer.text)")
        #expect(answer["field"] == field, "\(answer.text)")
        #expect(answer["status"] == "\(status)")
    }

    @Test("A client that drips its head or body gets 408 and is disconnected; an idle one is not")
    func slow() async throws {
        try await ProducerHarness.with {
            $0.http.receiveTimeout = .milliseconds(300)
        } _: { harness in
            let silent = try await RawConnection.open(port: harness.http.port)
            let head = try await RawConnection.open(port: harness.http.port)
            await head.send("PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\nx: ")
            let body = try await RawConnection.open(port: harness.http.port)
            await body.send(
                "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{"
            )
            for connection in [head, body] {
                try await connection.drip(UInt8(ascii: "a"))
                refused(try await connection.answer(), 408, "receive-timeout")
                #expect(await connection.end() == [])
            }
            // Longer than the time limit of the others.
            await silent.send(Self.put())
            #expect(try await silent.answer().status == 202)
        }
    }

    @Test("A client that closes its sending side gets its answer; half a request gets an error")
    func halfClosed() async throws {
        try await ProducerHarness.with { harness in
            let whole = try await RawConnection.open(port: harness.http.port)
            await whole.send(Self.put() + Self.put())
            whole.endSending()
            #expect(try await whole.answer().status == 202)
            #expect(try await whole.answer().status == 202)
            #expect(await whole.end() == [])
            let chunked =
                "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            for half in [
                "", "PUT", "PUT \(Self.target) HTTP/1.1\r\nhost: x\r\n",
                "\(chunked)18\r\n\(Self.body)\r\n",
                "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 25\r\n\r\n\(Self.body)",
            ] {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(half)
                connection.endSending()
                if !half.isEmpty { refused(try await connection.answer(), 400, "invalid") }
                #expect(await connection.end() == [])
            }
            try await works(harness)
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 3).count == 3)
        }
    }

    @Test("Requests before garbage are answered, then the garbage, and then the connection closes")
    func garbage() async throws {
        try await ProducerHarness.with { harness in
            for garbage in [
                "GARBAGE\r\n\r\n", "\u{0}\u{1}\u{2}", "PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            ] {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(Self.put() + Self.put() + Array(garbage.utf8) + Self.put())
                #expect(try await connection.answer().status == 202)
                #expect(try await connection.answer().status == 202)
                let answer = try await connection.answer()
                #expect(answer.status == 400, "\(answer.text)")
                #expect(answer["reason"] == "invalid")
                #expect(await connection.end() == [], "nothing after it is answered")
            }
            try await works(harness)
        }
    }

    @Test("Many requests in one write are all answered in order")
    func pipelined() async throws {
        try await ProducerHarness.with { harness in
            let connection = try await RawConnection.open(port: harness.http.port)
            let count = 300
            var bytes: [UInt8] = []
            for index in 0..<count {
                bytes += RawHTTP.request(
                    index.isMultiple(of: 3) ? "GET" : "DELETE",
                    "/v1/recipients/u/notifications/i\(index)"
                )
            }
            async let sent = connection.send(bytes)
            for index in 0..<count {
                #expect(try await connection.answer().status == (index.isMultiple(of: 3) ? 405 : 202))
            }
            #expect(await sent)
        }
    }

    @Test("Floods of header fields and endless targets are refused without being stored")
    func floods() async throws {
        try await ProducerHarness.with { harness in
            let line = "x: \(String(repeating: "y", count: 1_000))\r\n"
            let floods: [(String, Int, String)] = [
                (
                    "GET / HTTP/1.1\r\nhost: localhost\r\n\(String(repeating: "a: b\r\n", count: 101))\r\n", 431,
                    "headers"
                ),
                ("GET / HTTP/1.1\r\nhost: localhost\r\n\(String(repeating: line, count: 40))\r\n", 431, "headers"),
                ("GET / HTTP/1.1\r\nhost: localhost\r\n\(String(repeating: line, count: 5_000))\r\n", 431, "headers"),
                (
                    "GET / HTTP/1.1\r\nhost: localhost\r\nx: \(String(repeating: "y", count: 2_000_000))\r\n\r\n", 431,
                    "headers"
                ),
                ("GET /\(String(repeating: "a", count: 262_144)) HTTP/1.1\r\nhost: localhost\r\n\r\n", 414, "target"),
                ("GET /\(String(repeating: "a", count: 5_000_000)) HTTP/1.1\r\nhost: localhost\r\n\r\n", 414, "target"),
            ]
            for (bytes, status, field) in floods {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(bytes)
                refused(try await connection.answer(), status, "too-large", field)
                #expect(await connection.end() == [])
            }
            let long = try await harness.http.send("GET", "/\(String(repeating: "a", count: 262_143))")
            refused(long, 404, "not-found")
            try await works(harness)
        }
    }

    @Test("A body that is too large is refused before it is sent, and a wanted one is requested")
    func expectation() async throws {
        try await ProducerHarness.with { harness in
            let json = ("content-type", "application/json")
            let expect = ("expect", "100-continue")
            func head(_ target: String, _ headers: [(String, String)], length: Int) -> [UInt8] {
                RawHTTP.request("PUT", target, headers: headers + [("content-length", "\(length)")])
            }
            let large = try await RawConnection.open(port: harness.http.port)
            await large.send(head(Self.target, [json, expect], length: 300_000))
            refused(try await large.answer(), 413, "too-large")
            #expect(await large.end() == [])

            // The head is sufficient: the body is never requested.
            for (target, headers, status) in [("/nowhere", [json, expect], 404), (Self.target, [expect], 415)] {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(head(target, headers, length: 30))
                #expect(try await connection.answer().status == status)
                #expect(await connection.end() == [])
            }
            let unknown = try await harness.http.put(Self.target, Self.body, headers: [("expect", "tea")])
            refused(unknown, 417, "invalid", "expect")

            let wanted = try await RawConnection.open(port: harness.http.port)
            for _ in 0..<2 {
                await wanted.send(head(Self.target, [json, expect], length: Self.body.utf8.count))
                #expect(try await wanted.answer().status == 100)
                await wanted.send(Self.body)
                #expect(try await wanted.answer().status == 202)
            }
        }
    }

    @Test("An unwanted body costs a client neither its answer nor, if it is small, its connection")
    func unwanted() async throws {
        try await ProducerHarness.with { harness in
            let kept = try await RawConnection.open(port: harness.http.port)
            for _ in 0..<3 {
                await kept.send(
                    "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 60000\r\n\r\n"
                )
                await kept.send([UInt8](repeating: 0x61, count: 60_000))
                refused(try await kept.answer(), 415, "unsupported-media-type")
            }
            await kept.send(Self.put())
            #expect(try await kept.answer().status == 202)
            let ended = try await RawConnection.open(port: harness.http.port)
            await ended.send(
                "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 5000000\r\n\r\n"
            )
            #expect(await ended.send([UInt8](repeating: 0x61, count: 5_000_000)), "it may send all of it")
            let answer = try await ended.answer()
            refused(answer, 415, "unsupported-media-type")
            #expect(answer.headers["connection"] == "close")
            #expect(await ended.end() == [])
        }
    }

    @Test("All calls together have a memory limit: above it they get 503, below it they work")
    func memory() async throws {
        try await ProducerHarness.with {
            $0.http.callBytes = 1 << 20
        } _: { harness in
            let json = "content-type: application/json\r\n"
            let start = "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\n\(json)"
            let head = start + "content-length: 262144\r\n"
            var holders: [RawConnection] = []
            for _ in 0..<4 {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(head + "\r\n")
                // All but the last byte.
                await connection.send([UInt8](repeating: 0x20, count: 262_143))
                holders.append(connection)
            }
            // A probe sends no body, so it takes no room from a holder that has not sent all yet. Its answer comes before the body.
            try await eventually("what arrived takes all the room") {
                let probe = try await RawConnection.open(port: harness.http.port)
                await probe.send(start + "content-length: \(Self.body.utf8.count)\r\nexpect: 100-continue\r\n\r\n")
                let answer = try await probe.answer()
                guard answer.status != 100 else { return false }
                refused(answer, 503, "overloaded")
                return true
            }
            let answer = try await harness.http.put(Self.target, Self.body)
            refused(answer, 503, "overloaded")
            #expect(answer.headers["retry-after"] == "1")
            // Calls without a body keep working.
            #expect(try await harness.http.send("DELETE", Self.target).status == 202)
            holders = []
            try await eventually("the memory is given back") {
                try await harness.http.put(Self.target, Self.body).status == 202
            }
        }
    }

    @Test("Announced bodies that are not sent use no memory")
    func announced() async throws {
        try await ProducerHarness.with {
            $0.http.callBytes = 1 << 20
        } _: { harness in
            let json = "content-type: application/json\r\n"
            let head = "PUT \(Self.target) HTTP/1.1\r\nhost: localhost\r\n\(json)content-length: 262144\r\n"
            var silent: [RawConnection] = []
            for index in 0..<32 {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(head + (index.isMultiple(of: 2) ? "expect: 100-continue\r\n\r\n" : "\r\n"))
                // The service has requested the body and waits for it.
                if index.isMultiple(of: 2) { #expect(try await connection.answer().status == 100) }
                silent.append(connection)
            }
            try await works(harness)
            // A larger body than the small ones need.
            let large = #"{"content":{"body":"\#(String(repeating: "x", count: 200_000))"}}"#
            let answer = try await harness.http.put(Self.target, large)
            #expect(answer.status == 202, "\(answer.text)")
            #expect(silent.allSatisfy { !$0.hasSomething })
        }
    }

    @Test("Thousands of idle connections are harmless; those beyond the limit wait until another closes")
    func idle() async throws {
        let bound = 2_000
        try await ProducerHarness.with {
            $0.http.connections = bound
        } _: { harness in
            var idle: [RawConnection] = []
            // Some more are accepted in the last loop of accepting.
            for _ in 0..<bound + 20 { idle.append(try RawConnection.openNow(port: harness.http.port)) }
            // One of the accepted connections.
            await idle[bound / 2].send(Self.put())
            #expect(try await idle[bound / 2].answer().status == 202)
            let waiting = try await RawConnection.open(port: harness.http.port)
            await waiting.send(Self.put())
            await idle[bound / 3].send(Self.put())
            #expect(try await idle[bound / 3].answer().status == 202)
            #expect(!waiting.hasSomething)
            idle.removeFirst(40)
            #expect(try await waiting.answer().status == 202)
            idle = []
            try await works(harness)
        }
    }

    @Test("An idle connection is closed after its timeout")
    func idleTimeout() async throws {
        try await ProducerHarness.with {
            $0.http.idleTimeout = .seconds(2)
        } _: { harness in
            var answered: RawConnection?
            while answered == nil {
                let connection = try await RawConnection.open(port: harness.http.port)
                await connection.send(Self.put())
                // On a busy machine the time can have passed before the request arrives.
                if let answer = try? await connection.answer(), answer.status == 202 { answered = connection }
            }
            #expect(await answered?.end() == [])
        }
    }

    @Test("A client that never reads its answers is disconnected, and others are answered meanwhile")
    func neverReads() async throws {
        try await ProducerHarness.with {
            // Long enough for the others on a busy machine.
            $0.http.idleTimeout = .seconds(20)
        } _: { harness in
            let deaf = try await RawConnection.open(port: harness.http.port)
            let get = RawHTTP.request("GET", "/\(String(repeating: "a", count: 10))")
            let requests = [UInt8](repeatElement(get, count: 1_000).joined())
            async let others: Void = works(harness)
            // Fills the buffers of both sides, and then fails because the connection is closed.
            try await within(.seconds(400), "the end of the deaf client") {
                while await deaf.send(requests) {}
            }
            try await others
            try await works(harness)
        }
    }

    @Test("A service that stops closes waiting connections, also refused ones")
    func stop() async throws {
        try await ProducerHarness.with {
            $0.http.idleTimeout = .seconds(600)
        } _: { harness in
            let idle = try await RawConnection.open(port: harness.http.port)
            await idle.send(Self.put())
            #expect(try await idle.answer().status == 202)
            let refused = try await RawConnection.open(port: harness.http.port)
            await refused.send("GARBAGE\r\n\r\n")
            #expect(try await refused.answer().status == 400)
            try await within(.seconds(300), "the stop, sooner than the time of a refused connection") {
                try await harness.stop()
            }
            #expect(await idle.end() == [])
        }
    }
}
