import ServiceHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Transfers of media to clients")
struct MediaTransfersTests {
    private func transfers(_ most: Int, ofClient: Int, rate: Int = 1000) -> MediaTransfers {
        var settings = MediaTransfers.Settings()
        (settings.most, settings.mostOfClient, settings.minimumRate) = (most, ofClient, rate)
        return MediaTransfers(settings)
    }

    /// As many as one client gets.
    private func take(_ count: Int, _ transfers: MediaTransfers, _ client: String?) -> [MediaTransfers.Transfer] {
        (0..<count).compactMap { _ in try? transfers.begin(for: client) }
    }

    @Test("one client gets its bound, all together theirs, and each ends with its last reference")
    func bounds() {
        let transfers = transfers(5, ofClient: 3)
        var first = take(9, transfers, "192.0.2.1")
        let second = take(9, transfers, "192.0.2.2")
        #expect(first.count == 3 && second.count == 2 && transfers.count == 5)
        first = []
        #expect(transfers.count == 2)
        #expect(take(9, transfers, nil).count == 3 && transfers.count == 2)
        #expect(second.count == 2)
    }

    @Test("a client that takes less than the minimum rate is broken off, but not at its begin")
    func rate() {
        let transfers = transfers(1, ofClient: 1)
        #expect(throws: Never.self) { try transfers.check(0, in: .seconds(10)) }
        #expect(throws: Never.self) { try transfers.check(20_000, in: .seconds(20)) }
        #expect(throws: MediaTransfers.TooSlow.self) { try transfers.check(19_999, in: .seconds(20)) }
        #expect(throws: Never.self) { try self.transfers(1, ofClient: 1, rate: 0).check(1, in: .seconds(3600)) }
    }

    @Test(
        "of IPv6 a network is one client",
        arguments: [
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8::1", "2001:db8:0:0::/64"),
            ("::1", "0:0:0:0::/64"), ("fe80::1%eth0", "fe80:0:0:0::/64"), ("192.0.2.1", "192.0.2.1"), ("", ""),
        ]
    )
    func network(address: String, network: String) {
        #expect(MediaTransfers.network(of: address) == network)
    }
}
