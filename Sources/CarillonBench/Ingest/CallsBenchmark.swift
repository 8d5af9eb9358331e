import Foundation
import LocalBroker
import Logging
import NotificationModel

/// `PUT`s of a notification that the broker has acknowledged, beside a Hummingbird route that only reads its body: both as a
/// process of its own, asked by wrk.
struct CallsBenchmark {
    var seconds: Int
    var connections: Int
    var rounds: Int
    var logger: Logger
    var report: (String) -> Void

    struct Result: Sendable {
        var service: [Double] = []
        var bare: [Double] = []
    }

    /// - Returns: calls a second of each round.
    func run() throws -> Result {
        let wrk = try Wrk(seconds: seconds, connections: connections)
        var result = Result()
        for round in 1...rounds {
            report("PUT, round \(round) of \(rounds): \(seconds) s each, \(connections) connections")
            result.service.append(
                try LocalBroker.with(partitions: 8) { broker, topics in
                    let port = try FreePort.find()
                    let rules = try EventWorkload.writeRules()
                    defer { try? FileManager.default.removeItem(at: rules) }
                    let process = try Subject.producer(rules: rules, port: port).start(
                        Subject.Work(
                            bootstrapServers: broker.bootstrapServers.joined(separator: ","),
                            topics: topics,
                            partitions: 8,
                            records: 0,
                            properties: PipelineBenchmark.properties
                        )
                    )
                    defer { process.stop() }
                    return try wrk.run(port: port, alive: process)
                }
            )
            let port = try FreePort.find()
            let process = try SubjectProcess(
                URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(),
                ["bench", "bare-route", "--port", "\(port)"],
                environment: [:]
            )
            defer { process.stop() }
            result.bare.append(try wrk.run(port: port, alive: process))
        }
        return result
    }
}

/// A port that was free a moment ago.
enum FreePort {
    static func find() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError("no socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        guard code == 0 else { throw BenchmarkError("no free port on loopback") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
