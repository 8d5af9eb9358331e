import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import ServiceHTTP

@Suite("A connection that was accepted")
struct AcceptedConnectionTests {
    @Test func `is closed when the server ends before it takes it`() async throws {
        let bounds = ConnectionBounds(
            targetBytes: 1_000,
            headerBytes: 500,
            headerCount: 10,
            receiveTimeout: .seconds(10),
            answerTimeout: .seconds(10),
            sendTimeout: .seconds(10),
            unanswered: .overloaded
        )
        let server = GuardedChannel(
            responder: { _, _, _ in },
            bounds: bounds,
            idleTimeout: .seconds(10),
            isTLS: false,
            memory: CallMemory(limit: 1 << 20),
            metrics: .none
        )
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        // Nobody keeps it.
        let isOpen = channel.eventLoop.flatSubmit {
            server.setup(channel: channel, logger: Logger(label: "test")).map(\.channel.isActive)
        }
        #expect(try await isOpen.get())
        try await eventually("it is closed") { !channel.isActive }
    }
}
