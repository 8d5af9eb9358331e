import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing
import TestSupport

@testable import ServiceHTTP

@Suite("A listener that cannot accept connections")
struct AcceptFailuresTests {
    /// The descriptors of the process, as far as a listener asks.
    private final class Files {
        var areScarce = false
    }

    private struct Listener {
        let channel = EmbeddedChannel()
        let log = CollectedLog()
        let files = Files()

        init() throws {
            let failures = AcceptFailures(of: "HTTP API", logger: log.logger, metrics: .none) { [files] in
                files.areScarce
            }
            try channel.pipeline.syncOperations.addHandler(failures)
        }

        func fail() {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
            // The test channel rethrows errors that no handler caught.
            try? channel.throwIfErrorCaught()
        }

        /// Returns whether the connection reached the server.
        func accept() throws -> Bool {
            try channel.writeInbound(EmbeddedChannel() as any Channel)
            return try channel.readInbound(as: (any Channel).self) != nil
        }

        func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

        /// The read settings that the listener received, in order.
        var reads: [Bool] {
            channel.options.filter { $0.option is ChannelOptions.Types.AutoReadOption }.compactMap { $0.value as? Bool }
        }
    }

    @Test("It pauses once for many failures, and then continues")
    func pauses() throws {
        let listener = try Listener()
        for _ in 0..<100 { listener.fail() }
        #expect(listener.reads.last == false)
        listener.wait(AcceptFailures.pause - .milliseconds(1))
        #expect(listener.reads.last == false)
        listener.wait(.milliseconds(1))
        #expect(listener.reads.last == true)
        listener.fail()
        #expect(listener.reads.last == false)
        listener.wait(AcceptFailures.pause)
        #expect(listener.reads.last == true)
    }

    @Test("It logs the first failure at once, with the remedy, and later ones now and then with their number")
    func logs() throws {
        let listener = try Listener()
        for _ in 0..<100 { listener.fail() }
        #expect(listener.log.lines.count == 1)
        let line = try #require(listener.log.lines.first)
        #expect(line.hasPrefix("error: "))
        #expect(line.contains("ulimit -n"))
        #expect(line.contains("HTTP API"))
        listener.wait(AcceptFailures.quiet - .milliseconds(1))
        listener.fail()
        #expect(listener.log.lines.count == 1)
        listener.wait(.milliseconds(1))
        listener.fail()
        #expect(listener.log.lines.count == 2)
        #expect(listener.log.lines.last?.contains("100") == true, "\(listener.log.lines)")
    }

    @Test("It pauses while few descriptors are left, and keeps what it has accepted")
    func scarce() throws {
        let listener = try Listener()
        #expect(try listener.accept())
        #expect(listener.reads.isEmpty)
        listener.files.areScarce = true
        #expect(try listener.accept())
        #expect(listener.reads.last == false)
        listener.wait(AcceptFailures.pause)
        listener.wait(AcceptFailures.pause)
        #expect(listener.reads.last == false)
        #expect(listener.log.lines.count == 1)
        #expect(listener.log.lines.first?.contains("descriptors are left") == true, "\(listener.log.lines)")
        listener.files.areScarce = false
        listener.wait(AcceptFailures.pause)
        #expect(listener.reads.last == true)
    }

    @Test("Other errors change nothing")
    func others() throws {
        let listener = try Listener()
        listener.channel.pipeline.fireErrorCaught(CancellationError())
        try? listener.channel.throwIfErrorCaught()
        #expect(listener.reads.isEmpty)
        #expect(listener.log.lines.isEmpty)
    }
}
