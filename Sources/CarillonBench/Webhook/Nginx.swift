import Foundation

/// nginx, from Debian's package: one worker that answers 204, or what is asked for, to every request, and may have files too.
final class Nginx {
    /// What it does besides answering.
    enum Mode {
        /// Nothing else: for measurements.
        case plain
        /// It writes a line for each request, and refuses all while `isRefusing`.
        case logging
        /// It has the files of a folder with TLS on a second port.
        case files(in: String, port: Int, TestCertificate)
        /// It answers 200 with that JSON.
        case json(String)
        /// It answers with that directive on a second port, with TLS and both versions of HTTP.
        case answering(String, port: Int, TestCertificate)
    }

    /// An answered request.
    struct Line: Equatable {
        var status: Int
        /// Bytes of the body, as the request announces them.
        var length: Int
        /// The id of its event; empty if it has none.
        var id: Substring

        /// - Returns: nil for a line that is not complete.
        init?(_ line: some StringProtocol) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, let status = Int(words[0]), let length = Int(words[1]) else { return nil }
            (self.status, self.length, id) = (status, length, Substring(words[2] == "-" ? "" : words[2]))
        }
    }

    let port: Int
    private(set) var process: SubjectProcess
    /// How often its number of requests was asked for by ``served()``.
    private var counted = 0
    private let folder: URL
    private let workbench: Workbench

    private static let executable = URL(fileURLWithPath: "/usr/sbin/nginx")

    /// Starts it; blocking until it answers.
    ///
    /// - Throws: ``MissingProgram`` if it is not installed.
    init(_ mode: Mode, on workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install nginx-light")
        }
        self.workbench = workbench
        port = try FreePort.find()
        folder = workbench.place("nginx")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = Self.configuration(mode, port: port, folder: folder.path)
        try Data(text.utf8).write(to: folder.appendingPathComponent("nginx.conf"))
        process = try Self.start(in: folder, workbench)
        try awaitAnswers()
    }

    /// Without a master process: there is one process to stop, which is the only worker.
    static func configuration(_ mode: Mode, port: Int, folder: String) -> String {
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let (log, refusal) =
            switch mode {
            case .plain, .files, .json, .answering: ("access_log off;", "")
            case .logging:
                (
                    "log_format line '$status $content_length $http_webhook_id'; access_log \(folder)/requests line;",
                    "if (-f \(folder)/refuse) { return 503; }"
                )
            }
        return """
            daemon off;
            master_process off;
            worker_processes 1;
            pid \(folder)/pid;
            error_log stderr error;
            events { worker_connections 8192; }
            http {
              \(log)
              keepalive_requests 1000000000;
              \(places.joined(separator: "\n  "))
              server {
                listen 127.0.0.1:\(port) backlog=4096;
                location = /status { access_log off; stub_status; }
                location / { \(refusal) \(answer(mode)) }
              }
              \(secondServer(mode))
            }

            """
    }

    private static func answer(_ mode: Mode) -> String {
        guard case .json(let json) = mode else { return "return 204;" }
        return "default_type application/json; return 200 '\(json)';"
    }

    private static func secondServer(_ mode: Mode) -> String {
        let (port, versions, files, contents): (Int, String, TestCertificate, String)
        switch mode {
        case .plain, .logging, .json: return ""
        case .files(let folder, let own, let certificate):
            (port, versions, files) = (own, "", certificate)
            contents = "types { image/png png; } root \(folder);"
        case .answering(let directive, let own, let certificate):
            (port, versions, files) = (own, " http2", certificate)
            contents = "http2_max_concurrent_streams 100; location / { \(directive) }"
        }
        return """
            server {
                listen 127.0.0.1:\(port) ssl\(versions) backlog=4096;
                ssl_certificate \(files.certificate);
                ssl_certificate_key \(files.key);
                \(contents)
              }
            """
    }

    private static func start(in folder: URL, _ workbench: Workbench) throws -> SubjectProcess {
        let file = folder.appendingPathComponent("nginx.conf").path
        return try SubjectProcess(executable, ["-c", file, "-p", folder.path, "-e", "stderr"], on: workbench)
    }

    private func awaitAnswers() throws {
        for _ in 0..<200 {
            _ = try process.sample()
            if (try? requests()) != nil { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw BenchmarkError("nginx does not answer on port \(port)")
    }

    /// Where the channel posts.
    var url: String { "http://127.0.0.1:\(port)/hooks" }

    /// Ends it: connections are refused.
    func stop() { process.stop() }

    /// Starts it again, on the same port.
    func restart() throws {
        process.stop()
        process = try Self.start(in: folder, workbench)
        try awaitAnswers()
    }

    /// Answers 503, or 204 again.
    func refuse(_ isRefusing: Bool) throws {
        let file = folder.appendingPathComponent("refuse")
        if isRefusing { try Data().write(to: file) } else { try FileManager.default.removeItem(at: file) }
    }

    /// The requests since its start, including this one for the number.
    func requests() throws -> Int {
        guard let url = URL(string: "http://127.0.0.1:\(port)/status") else {
            throw BenchmarkError("\(port) is no port")
        }
        // The third line: accepted connections, handled ones, requests.
        let lines = String(decoding: try Data(contentsOf: url), as: UTF8.self).split(separator: "\n")
        guard lines.count >= 3, let count = lines[2].split(separator: " ").last.flatMap({ Int($0) }) else {
            throw BenchmarkError("nginx does not report its requests")
        }
        return count
    }

    /// The requests since its start, but for those for the number.
    func served() throws -> Int {
        let count = try requests()
        counted += 1
        return count - counted
    }

    /// All answered requests, of every start.
    func log() throws -> [Line] {
        try String(contentsOf: folder.appendingPathComponent("requests"), encoding: .utf8)
            .split(separator: "\n").compactMap { Line($0) }
    }
}
