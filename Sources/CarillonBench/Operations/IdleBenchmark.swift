import Foundation

/// Both services, connected and without anything to do.
struct IdleBenchmark {
    /// Until caches, pools and groups have settled.
    private static let settling = 15.0

    var seconds: Int
    var partitions: Int32
    /// Of a cluster; nil for the embedded broker.
    var servers: String?
    var workbench: Workbench

    /// - Returns: a row for each service.
    /// - Throws: ``BenchmarkError`` when one of them ends.
    func run() throws -> [FigureRow] {
        workbench.report("idle: \(seconds) s")
        return try BenchmarkBroker.with(partitions: partitions, at: servers, on: workbench) { broker in
            let consumer = try ServiceInstance(of: broker, [:], on: workbench)
            defer { consumer.stop() }
            let producer = try Subject.producer().start(broker.work(properties: [:]), on: workbench)
            defer { producer.stop() }
            try ServiceInstance.awaitAll([consumer], partitions, "all partitions are assigned")
            Thread.sleep(forTimeInterval: Self.settling)
            let services = [("carillon-producer", producer), ("carillon-consumer", consumer.process)]
            let before = try services.map { try $0.1.sample().cpuSeconds }
            let start = ContinuousClock.now
            Thread.sleep(forTimeInterval: Double(seconds))
            let minutes = (ContinuousClock.now - start) / .seconds(60)
            return try zip(services, before).map { service, before in
                let sample = try service.1.sample()
                return FigureRow(
                    service.0,
                    [
                        Figure("cpu_seconds_per_minute", "CPU s a minute", (sample.cpuSeconds - before) / minutes),
                        Figure("resident_bytes", "MiB", Double(sample.residentBytes), as: .mebibytes),
                    ]
                )
            }
        }
    }
}
