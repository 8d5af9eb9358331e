/// nginx with TLS, over both versions of HTTP, in the place of a push service: it takes every message, and counts.
struct MessageServer {
    let origin: String
    let certificate: TestCertificate
    private let nginx: Nginx

    /// Starts it; blocking until it listens.
    ///
    /// - Parameter directive: its answer, as nginx has it.
    init(on workbench: Workbench, answering directive: (_ origin: String) -> String) throws {
        certificate = try TestCertificate(on: workbench)
        let port = try FreePort.find()
        origin = "https://127.0.0.1:\(port)"
        nginx = try Nginx(.answering(directive(origin), port: port, certificate), on: workbench)
    }

    /// Messages since its start.
    func accepted() throws -> Int { try nginx.served() }

    func stop() { nginx.stop() }
}
