import Foundation

/// What another client has done, by its own report.
struct PushClientResult {
    var perSecond: Double
    /// User and system time.
    var cpuMicroseconds: Double
}

/// h2load, of Debian's package nghttp2-client: it sends the same request again and again, so it is the limit of any client.
struct H2Load {
    /// A push of the channel, with its fields and its payload.
    struct Request {
        var url: String
        var fields: [(name: String, value: String)]
        var body: [UInt8]
        /// HTTP/1.1 has one push of a connection at a time.
        var isHTTP1 = false
    }

    private static let executable = URL(fileURLWithPath: "/usr/bin/h2load")
    private let workbench: Workbench

    /// - Throws: ``MissingProgram`` if it is not installed.
    init(on workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install nghttp2-client")
        }
        self.workbench = workbench
    }

    /// Sends a push so often.
    ///
    /// - Parameter streams: of a connection at one time.
    /// - Throws: ``BenchmarkError`` when one of them is not accepted.
    func run(
        _ request: Request,
        to target: some PushTarget,
        pushes: Int,
        connections: Int,
        streams: Int
    ) throws -> PushClientResult {
        let body = workbench.place("payload")
        try Data(request.body).write(to: body)
        let before = try (target.accepted(), Self.childrenCPU())
        let (output, status) = try workbench.run(
            Self.executable,
            (request.isHTTP1 ? ["--h1"] : []) + [
                "-n", "\(pushes)", "-c", "\(connections)", "-m", "\(streams)", "-t", "1", "-d", body.path,
            ] + request.fields.flatMap { ["-H", "\($0.name): \($0.value)"] } + [request.url]
        )
        let cpu = Self.childrenCPU() - before.1
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0, let rate = Self.rate(in: text) else {
            throw BenchmarkError("h2load ended with status \(status): \(text.suffix(400))")
        }
        let arrived = try target.accepted() - before.0
        guard arrived == pushes else {
            throw BenchmarkError("\(target.name) accepted \(arrived) of \(pushes) pushes of h2load")
        }
        return PushClientResult(perSecond: rate, cpuMicroseconds: cpu / Double(pushes) * 1e6)
    }

    /// `finished in 1.23s, 81300.81 req/s, …`
    static func rate(in text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let place = words.firstIndex(where: { $0.hasPrefix("req/s") }), place > 0 else { return nil }
        return Double(words[place - 1])
    }

    /// User and system time of the processes that have ended.
    private static func childrenCPU() -> Double {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
