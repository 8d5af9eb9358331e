import Foundation

/// A certificate for 127.0.0.1 that is its own authority, and its key, made by openssl.
struct TestCertificate {
    let certificate: String
    let key: String

    private static let executable = URL(fileURLWithPath: "/usr/bin/openssl")

    /// - Throws: ``MissingProgram`` if openssl is not installed.
    init(on workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install openssl")
        }
        (certificate, key) = (workbench.place("certificate").path, workbench.place("key").path)
        try run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", key], workbench)
        try run(
            [
                "req", "-x509", "-key", key, "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1", "-out", certificate,
            ],
            workbench
        )
    }

    private func run(_ arguments: [String], _ workbench: Workbench) throws {
        let status = try workbench.run(Self.executable, arguments).status
        guard status == 0 else { throw BenchmarkError("openssl ended with status \(status)") }
    }
}
