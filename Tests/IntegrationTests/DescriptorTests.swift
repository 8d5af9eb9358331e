import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A service whose process may open few files.
@Suite("A process without file descriptors to spare", .serialized)
struct DescriptorTests {
    private func producer(files: Int, _ settings: [String: String] = [:]) throws -> ServiceProcess {
        var variables = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_OPS_PORT": "0", "CARILLON_HTTP_PORT": "0",
            "CARILLON_LOG_FORMAT": "json",
        ]
        variables.merge(settings) { $1 }
        let program = try Tools.product("carillon-producer")
        return ServiceProcess(
            try ChildProcess("/bin/sh", ["-c", "ulimit -n \(files) && exec '\(program)'"], environment: variables)
        )
    }

    @Test("silent connections to the ops port leave the API its own")
    func silent() async throws {
        let service = try producer(files: 300)
        do {
            let http = try await service.http
            let port = try await service.port("ops endpoint listens")
            let silent = try (0..<313).map { _ in try SilentConnection(port: port) }
            let answer = try await Curl.send("GET", "\(http)/nowhere")
            #expect(answer.status == 404, "\(answer.text)")
            #expect(!service.child.errorText.contains("cannot accept connections"))
            _ = silent
        } catch {
            Issue.record(error, "\(service.child.lastWords)")
        }
        await service.child.end()
    }

    @Test("without free descriptors a listener reports that, waits, and continues when there are some again")
    func exhausted() async throws {
        // Fewer than the limit of connections needs.
        let service = try producer(files: 72)
        do {
            let port = try await service.port("ops endpoint listens")
            _ = try await service.http
            var silent = try (0..<100).map { _ in try SilentConnection(port: port) }
            try await eventually("the log reports it", orSay: { service.child.lastWords }) {
                service.child.errorText.contains("cannot accept connections")
            }
            let lines = service.child.errorText.split(separator: "\n").filter { $0.contains("cannot accept") }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("ulimit -n") == true)
            // Without one libdispatch would end the process as soon as tasks wait for a thread.
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(service.child.pid)/fd")
            #expect(open.count <= 64, "\(open.count)")
            silent = []
            #expect(try await service.health("live").status == 200)
            #expect(silent.isEmpty)
        } catch {
            Issue.record(error, "\(service.child.lastWords)")
        }
        await service.child.end()
    }
}

/// A TCP connection on which nothing is sent. Closed when its last reference is released.
private final class SilentConnection {
    private let socket: Int32

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw ChildProcess.Failure(description: "connect: \(errno)") }
    }

    deinit { close(socket) }
}
