import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The resolver of the operating system (`getaddrinfo`), which blocks: it has threads of its own, so that a DNS
/// server that does not answer delays nothing else.
package final class SystemResolver: HostResolver {
    /// Why a look-up failed.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// As the operating system says it.
        package var description: String
    }

    /// A host with more addresses is cut: they are only alternatives.
    private static let mostAddresses = 16

    private let threads: NIOThreadPool

    /// - Parameter threads: Look-ups at one time; further ones wait.
    package init(threads: Int) {
        self.threads = NIOThreadPool(numberOfThreads: max(1, threads))
        self.threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    package func addresses(of host: String) async throws -> [IPAddress] {
        try await threads.runIfActive { try Self.lookUp(host) }
    }

    private static func lookUp(_ host: String) throws(Failure) -> [IPAddress] {
        var hints = addrinfo()
        // One entry for each address, not one for each kind of socket.
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw Failure(description: gai_strerror(status).map { String(cString: $0) } ?? "error \(status)")
        }
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next, addresses.count < mostAddresses {
            if let address = address(entry.pointee), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    /// Reads the bytes by their places, which are the same on all systems: C's types come from several modules here.
    private static func address(_ entry: addrinfo) -> IPAddress? {
        let bytes = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
        switch entry.ai_family {
        case AF_INET where bytes.count >= 8:
            return IPAddress(v4: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6 where bytes.count >= 24:
            return IPAddress(
                v6High: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                v6Low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            )
        default: return nil
        }
    }
}
