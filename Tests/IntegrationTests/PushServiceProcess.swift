import Foundation
import Testing
import TestSupport

/// `push_service.py`: a push service by HTTPS, whose browsers decrypt with another library.
struct PushServiceProcess {
    let child: ChildProcess
    let port: String
    /// The PEM file of its certificate, which senders must trust.
    let certificate: String

    var origin: String { "https://127.0.0.1:\(port)" }

    /// - Parameter folder: where its certificate and key are made.
    init(in folder: TemporaryFolder) async throws {
        let key = folder.file("server-key.pem")
        certificate = folder.file("server.pem")
        _ = try await ChildProcess.run(
            try Tools.program("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=push", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ]
        )
        let child = try ChildProcess(
            try Tools.python(),
            [Tools.client("push_service.py"), certificate, key],
            keepsInput: true
        )
        try await eventually("the push service listens", orSay: { child.lastWords }) { !child.outputLines.isEmpty }
        port = String(try #require(child.outputLines.first))
        self.child = child
    }
}
