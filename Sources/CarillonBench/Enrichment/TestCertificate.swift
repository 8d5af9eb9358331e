import Foundation

/// A certificate for 127.0.0.1 that is its own authority, and its key, made by openssl.
struct TestCertificate {
    let certificate: String
    let key: String

    private static let executable = URL(fileURLWithPath: "/usr/bin/openssl")

    /// Runs openssl.
    ///
    /// - Throws: ``MissingProgram`` if it is not installed.
    static func openssl(_ arguments: [String], on workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: executable.path) else {
            throw MissingProgram(executable.path, remedy: "apt-get install openssl")
        }
        let status = try workbench.run(executable, arguments).status
        guard status == 0 else { throw BenchmarkError("openssl ended with status \(status)") }
    }
}

extension TestCertificate {
    /// - Throws: ``MissingProgram`` if openssl is not installed.
    init(on workbench: Workbench) throws {
        (certificate, key) = (workbench.place("certificate").path, workbench.place("key").path)
        try Self.openssl(
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", key],
            on: workbench
        )
        try Self.openssl(
            [
                "req", "-x509", "-key", key, "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1", "-out", certificate,
            ],
            on: workbench
        )
    }
}
