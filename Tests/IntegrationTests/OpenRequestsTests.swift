import TestSupport
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The numbers of open requests against those of closing events, in both services.
@Suite("The gauge of open requests", .serialized, .timeLimit(.minutes(10)))
struct OpenRequestsTests {
    /// What `/metrics` of a consumer service says.
    private struct Numbers: CustomStringConvertible {
        var requested = 0
        /// By the name of the event.
        var closed: [String: Int] = [:]
        /// By state, without those that are 0.
        var open: [String: Int] = [:]

        init(_ page: String) {
            for line in page.split(separator: "\n") where !line.hasPrefix("#") {
                guard let value = line.split(separator: " ").last.flatMap({ Double($0) }).map({ Int($0) }) else {
                    continue
                }
                let label = line.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
                if line.hasPrefix("carillon_notifications_requested_total ") { requested = value }
                if value > 0, line.hasPrefix("carillon_notifications_closed_total{") { closed[label] = value }
                if value > 0, line.hasPrefix("carillon_open{") { open[label] = value }
            }
        }

        var closings: Int { closed.values.reduce(0, +) }
        var description: String { "requested \(requested), closed \(closed), open \(open)" }
    }

    @Test(
        "requested less closed is open, after deliveries, cancellations, expirations, failures, digests and a restart",
        arguments: [true, false]
    )
    func balance(isOnDisk: Bool) async throws {
        let folder = try TemporaryFolder()
        var settings = ["CARILLON_CHANNELS": "test", "CARILLON_TEST_CHANNEL_REJECTIONS": "1000"]
        if isOnDisk { settings["CARILLON_STORE_DIRECTORY"] = folder.file("store") }
        let stack = try await Stack.start(settings)
        do {
            try await check(stack)
        } catch {
            Issue.record(error, "\(stack.consumer.child.lastWords)")
        }
        try await stack.stop()
    }

    private func check(_ stack: Stack) async throws {
        let recipient = stack.recipient()
        let content = #""content":{"title":"T"}"#
        let inAnHour = #""trigger":{"type":"timeInterval","timeInterval":3600}"#
        let hour = #"{\#(content),\#(inAnHour)}"#
        for number in 1...5 { try await stack.put(recipient, "now-\(number)") }
        for number in 1...4 { try await stack.put(recipient, "later-\(number)", hour) }
        try await stack.put(recipient, "later-1", hour)
        for number in 2...3 { try await stack.delete(recipient, "later-\(number)", state: "pending") }
        let daily = #"{"type":"calendar","dateComponents":{"hour":8},"timeZone":"UTC","repeats":true}"#
        try await stack.put(recipient, "daily", #"{\#(content),"trigger":\#(daily)}"#)
        let each = #"{"type":"timeInterval","timeInterval":60,"repeats":true}"#
        try await stack.put(recipient, "each", #"{\#(content),"trigger":\#(each)}"#)
        let region = #"{"latitude":31,"longitude":121,"radius":200}"#
        try await stack.put(
            recipient,
            "near",
            #"{\#(content),"trigger":{"type":"location","region":\#(region),"notifyOnEntry":true}}"#
        )
        for _ in 1...3 { try await stack.put(recipient, "held", #"{\#(content),"collapseWindow":3600}"#) }
        // It could never be sent: it expires before it is due.
        let soon = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(.now.addingTimeInterval(600))
        try await stack.put(recipient, "expired", #"{\#(content),\#(inAnHour),"expiration":"\#(soon)"}"#)
        for number in 1...2 { try await stack.put(recipient, "refused-\(number)", #"{\#(content),"channel":"test"}"#) }
        func digest(_ identifier: String, _ thread: String, window: Int) async throws {
            let body =
                #"{"content":{"title":"T","threadIdentifier":"\#(thread)"},"digest":{"by":"thread","window":\#(window)}}"#
            try await stack.put(recipient, identifier, body)
        }
        for number in 1...2 { try await digest("soon-\(number)", "soon", window: 5) }
        try await digest("waits", "late", window: 3600)

        let closed = [
            "delivered": 6, "superseded": 3, "cancelled": 2, "expired": 1, "failed": 2, "digested": 2,
        ]
        // Those that were put, and the digest.
        let requested = 5 + 5 + 2 + 1 + 3 + 1 + 2 + 3 + 1
        let open = ["scheduled": 4, "region": 1, "held": 1, "digest": 1]
        try await rests(stack, requested: requested, closed: closed, open: open)

        stack.consumer.child.signal(SIGTERM)
        #expect(try await stack.consumer.child.ended() == 0, "\(stack.consumer.child.lastWords)")
        try await stack.restartConsumer()
        // Counters begin again, what is open is known.
        try await rests(stack, requested: 0, closed: [:], open: open)
        try await stack.delete(recipient, "later-1", state: "pending")
        try await stack.put(recipient, "each", #"{\#(content)}"#)
        try await stack.put(recipient, "later-5", hour)
        try await rests(
            stack,
            requested: 2,
            closed: ["cancelled": 1, "superseded": 1, "delivered": 1],
            open: ["scheduled": 3, "region": 1, "held": 1, "digest": 1]
        )
    }

    /// What is open changed by what the counters say since the process began.
    private func rests(_ stack: Stack, requested: Int, closed: [String: Int], open: [String: Int]) async throws {
        var last: Numbers?
        try await eventually("it rests with \(requested), \(closed), \(open)", orSay: { "\(String(describing: last))" })
        {
            let numbers = Numbers(try await stack.consumer.metrics)
            last = numbers
            return numbers.requested == requested && numbers.closed == closed && numbers.open == open
        }
    }
}
