import Foundation

/// curl, from Debian's package.
struct Curl {
    /// At a time.
    let transfers: Int
    let certificate: String
    let workbench: Workbench

    private static let executable = URL(fileURLWithPath: "/usr/bin/curl")

    /// - Throws: ``MissingProgram`` if it is not installed.
    init(transfers: Int, certificate: String, workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install curl")
        }
        (self.transfers, self.certificate, self.workbench) = (transfers, certificate, workbench)
    }

    /// Downloads all into a new directory, each into a file of its own, over connections that it uses again.
    ///
    /// - Throws: ``BenchmarkError`` when one fails or has another size.
    func download(_ images: ServedImages) throws -> TransferRate {
        let folder = workbench.place("curl")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let list = workbench.place("urls")
        let lines = images.urls.enumerated().map { "url=\"\($1)\"\noutput=\"\(folder.path)/\($0).png\"\n" }
        try Data(lines.joined().utf8).write(to: list)
        let cpu = Self.childSeconds
        var status: Int32 = 0
        let time = try ContinuousClock().measure {
            status = try workbench.run(
                Self.executable,
                [
                    "--parallel", "--parallel-max", "\(transfers)", "--http1.1", "--fail", "--silent", "--show-error",
                    "--no-progress-meter", "--cacert", certificate, "--config", list.path,
                ]
            ).status
        }
        let used = Self.childSeconds - cpu
        guard status == 0 else { throw BenchmarkError("curl ended with status \(status)") }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
        let bytes = try Workbench.bytes(ofFilesIn: folder.path)
        guard files == images.urls.count, bytes == images.bytes else {
            throw BenchmarkError("curl wrote \(files) files of \(bytes) bytes instead of \(images.urls.count)")
        }
        return TransferRate(files, in: time, cpuSeconds: used)
    }

    /// Whether a server answers; nothing is kept of the answer.
    func isAnswered(_ url: String) throws -> Bool {
        let arguments = ["--silent", "--fail", "--cacert", certificate, "--output", "/dev/null", url]
        return try workbench.run(Self.executable, arguments).status == 0
    }

    /// Processor time of the children of this process that have ended.
    private static var childSeconds: Double {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
