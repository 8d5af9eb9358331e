import NotificationModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The standard process metrics of the Prometheus client libraries, under their standard names without our prefix.
struct ProcessMetrics: Sendable {
    private let start: Double

    init() {
        start = Self.startFromSystem() ?? Double(SystemClock.now().rawValue) / 1e3
    }

    func collect(into page: inout MetricsPage) {
        let number = Exposition.number
        page.add(
            "process_start_time_seconds",
            .gauge,
            "Start time of the process since the Unix epoch in seconds.",
            labels: [],
            value: number(start)
        )
        page.add(
            "process_cpu_seconds_total",
            .counter,
            "Total user and system CPU time spent in seconds.",
            labels: [],
            value: number(Self.cpuSeconds())
        )
        if let resident = Self.residentBytes() {
            page.add(
                "process_resident_memory_bytes",
                .gauge,
                "Resident memory size in bytes.",
                labels: [],
                value: number(resident)
            )
        }
    }

    private static func cpuSeconds() -> Double {
        SystemClock.processSeconds()
    }

    private static func residentBytes() -> Double? {
        let fields = read("/proc/self/statm")?.split(separator: " ")
        guard let fields, fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The kernel's start time, so that the value does not depend on the time of the call. Linux only.
    private static func startFromSystem() -> Double? {
        // The second field is the program's name in parentheses and may contain blanks.
        guard let stat = read("/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = read("/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let bootSeconds = Double(boot.dropFirst(6))
        else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        return bootSeconds + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func read(_ path: String) -> String? {
        try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }
}
