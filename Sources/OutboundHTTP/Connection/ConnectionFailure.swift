import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What an error of a connection says about its request.
enum ConnectionFailure {
    static func code(of error: any Error) -> OutboundFailure.Code {
        switch error {
        // The end of the connection without a TLS message, or within an answer.
        case NIOSSLError.uncleanShutdown, HTTPParserError.invalidEOFState: .disconnected
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is CertificateNameError: .tls
        case is HTTPParserError: .invalidResponse
        case ChannelError.connectTimeout: .timedOut
        case is ChannelError: .disconnected
        case let error as IOError where error.errnoCode == ECONNRESET || error.errnoCode == EPIPE: .disconnected
        default: .notConnected
        }
    }

    /// In words; none of the errors has contents of a message.
    static func text(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: "no answer to the connection attempt"
        default: "\(error)"
        }
    }
}
