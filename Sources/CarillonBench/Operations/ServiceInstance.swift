import Foundation

/// One of several consumer services of a group, with a store of its own.
final class ServiceInstance {
    private static let patience = Duration.seconds(120)

    private let port: Int
    private let start: () throws -> SubjectProcess
    private(set) var process: SubjectProcess

    /// - Parameter properties: librdkafka properties.
    init(of broker: BenchmarkBroker, _ properties: [String: String], on workbench: Workbench) throws {
        let (port, store) = (try FreePort.find(), workbench.place("store").path)
        let subject = try Subject.carillon().adding { _ in
            [
                "CARILLON_OPS_PORT": "\(port)", "CARILLON_STORE_DIRECTORY": store,
                "CARILLON_INSTANCE_ID": "bench-\(port)",
            ]
        }
        start = { try subject.start(broker.work(properties: properties), on: workbench) }
        self.port = port
        process = try start()
    }

    func restart() throws {
        try process.end(within: .seconds(60))
        process = try start()
    }

    /// The partitions that it processes; 0 before it answers.
    ///
    /// - Throws: ``BenchmarkError`` when it has ended.
    func assigned() throws -> Int {
        _ = try process.sample()
        return (try? ServiceMetrics(port: port)["carillon_assigned_partitions"]).flatMap(\.self).map { Int($0) } ?? 0
    }

    func stop() { process.stop() }

    /// Waits until each of them has partitions, and all of them together have all.
    ///
    /// - Throws: ``BenchmarkError`` when one has ended, or that takes too long.
    static func awaitAll(_ running: [ServiceInstance], _ partitions: Int32, _ what: String) throws {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while true {
            let assigned = try running.map { try $0.assigned() }
            if !assigned.contains(0), assigned.reduce(0, +) == Int(partitions) { return }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("not within \(patience): \(what); the instances have \(assigned)")
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }
}
