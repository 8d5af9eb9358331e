import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import OutboundHTTP

@Suite("Look-ups of hosts", .timeLimit(.minutes(5)))
struct HostAddressesTests {
    /// Answers for hosts that end with `fast.com`; others wait until they are released.
    private final class HangingResolver: HostResolver {
        private struct Contents {
            var asked: [String] = []
            var hanging: [CheckedContinuation<Void, Never>] = []
        }

        struct Failure: Error {}

        private let contents = Mutex(Contents())

        var asked: [String] { contents.withLock { $0.asked } }
        var hanging: Int { contents.withLock { $0.hanging.count } }

        func addresses(of host: String) async throws -> [IPAddress] {
            contents.withLock { $0.asked.append(host) }
            if host.hasPrefix("none") { throw Failure() }
            if !host.hasSuffix("fast.com") {
                await withCheckedContinuation { continuation in contents.withLock { $0.hanging.append(continuation) } }
            }
            return [IPAddress(v4: 0x0808_0808)]
        }

        func release() {
            let hanging = contents.withLock { contents in
                defer { contents.hanging = [] }
                return contents.hanging
            }
            for continuation in hanging { continuation.resume() }
        }

        func wait(until condition: (HangingResolver) -> Bool) async { while !condition(self) { await Task.yield() } }
    }

    private let resolver = HangingResolver()

    private func hosts(
        slots: Int = 4,
        timeout: TimeAmount = .seconds(60),
        lifetime: TimeAmount = .seconds(60)
    ) -> HostAddresses {
        HostAddresses(
            resolver,
            slots: slots,
            timeout: timeout,
            lifetime: lifetime,
            group: MultiThreadedEventLoopGroup.singleton,
            now: { .now() }
        )
    }

    private func url(_ host: String) throws -> EgressURL { try EgressPolicy().check("https://\(host)/") }

    @Test func `names whose servers never answer delay no other application`() async throws {
        let hosts = hosts()
        let urls = try (0..<10).map { try url("h\($0).slow.com") }
        let waiting = urls.map { url in Task { try? await hosts.addresses(of: url, for: "shop") } }
        await resolver.wait { $0.hanging == 2 }
        #expect(try await hosts.addresses(of: url("cdn.fast.com"), for: "bank").count == 1)
        #expect(resolver.asked.count == 3, "one application has half of the slots")
        for task in waiting { task.cancel() }
        for task in waiting { #expect(await task.value == nil) }
        resolver.release()
        await resolver.wait { $0.hanging == 0 }
    }

    @Test func `a look-up that hangs keeps one slot, however often it is asked for`() async throws {
        let hosts = hosts(timeout: .milliseconds(1), lifetime: .zero)
        for _ in 0..<20 {
            let failure = await #expect(throws: ResolutionFailure.self) {
                try await hosts.addresses(of: url("h.slow.com"), for: "shop")
            }
            #expect(failure?.reason == .timedOut)
        }
        #expect(resolver.asked.count <= 1)
        resolver.release()
    }

    @Test func `a failure serves for a while, as addresses do`() async throws {
        let hosts = hosts()
        for _ in 0..<3 {
            let failure = await #expect(throws: ResolutionFailure.self) {
                try await hosts.addresses(of: url("none.com"))
            }
            #expect(failure?.reason == .unresolved)
            #expect(try await hosts.addresses(of: url("cdn.fast.com")).count == 1)
        }
        #expect(resolver.asked == ["none.com", "cdn.fast.com"])
    }

    @Test func `a look-up ends at the caller's deadline`() async throws {
        let hosts = hosts()
        let failure = await #expect(throws: ResolutionFailure.self) {
            try await hosts.addresses(of: url("h.slow.com"), by: .now() + .milliseconds(5))
        }
        #expect(failure?.reason == .timedOut)
        // Another one has more patience.
        let releasing = Task {
            while !Task.isCancelled {
                resolver.release()
                await Task.yield()
            }
        }
        let addresses = try await hosts.addresses(of: url("h.slow.com"))
        releasing.cancel()
        #expect(addresses.count == 1)
    }

    @Test(arguments: [
        ("img-7.cdn.shop.com", "shop.com"), ("shop.com", "shop.com"), ("a.b.shop.co.uk", "shop.co.uk"),
        ("co.uk", "co.uk"), ("a.shop.io", "shop.io"), ("10.1.2.3", "10.1.2.3"), ("2606:4700::1", "2606:4700::1"),
        ("localhost", "localhost"),
    ])
    func `all names below a registered one count as one`(_ host: String, _ name: String) {
        #expect(RegisteredName.of(host) == name)
    }
}
