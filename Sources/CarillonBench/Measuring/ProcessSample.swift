import Foundation

/// What the kernel says of a process: Linux's `/proc`.
struct ProcessSample: Sendable {
    /// User and system time of all its threads, since it started.
    var cpuSeconds: Double
    /// The most memory that was resident at any time.
    var peakResidentBytes: Int
    /// What is resident now; 0 for a thread.
    var residentBytes: Int

    /// - Parameter folder: where the processes are; a process's own `task` for one of its threads.
    /// - Throws: ``BenchmarkError`` when the process is gone.
    init(of pid: Int32, in folder: String = "/proc") throws {
        guard let stat = try? String(contentsOfFile: "\(folder)/\(pid)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "\(folder)/\(pid)/status", encoding: .utf8),
            // The name in parentheses may hold anything: fields are counted from its end.
            let end = stat.lastIndex(of: ")")
        else { throw BenchmarkError("process \(pid) is gone") }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            throw BenchmarkError("\(folder)/\(pid)/stat cannot be read")
        }
        cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        func bytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
            return (kibibytes ?? 0) * 1024
        }
        (peakResidentBytes, residentBytes) = (bytes("VmHWM:"), bytes("VmRSS:"))
    }
}
