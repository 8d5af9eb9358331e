import ArgumentParser
import Foundation
import NotificationChannels
import OutboundHTTP
import PushSimulation

/// `carillon webpush keys`: the key pair of an application.
struct WebPushKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make the key pair that signs for an application, or show the public key of one.",
        discussion: """
            Writes the private key to the file, as PEM with a PKCS #8 key on P-256 that only you can read, and prints the \
            public key, which a page gives pushManager.subscribe as applicationServerKey. A file that is there already is \
            not changed: its public key is printed.

            Keep the private key: a subscription takes messages of the key that it was made with only.

            Example:

              carillon webpush keys /etc/carillon/shop-vapid.pem
            """
    )

    @Argument(help: ArgumentHelp("Where the private key is.", valueName: "file"), completion: .file())
    var file: String

    func run() async throws {
        try await CommandFailure.told(by: "carillon webpush keys") {
            if try makeIfMissing() { Terminal.writeError("made a key pair; the private key is in \(file)\n") }
            do throws(SigningKeyError) {
                Terminal.write("\(try VAPIDKey.publicKey(of: ES256Key.load(path: file)))\n")
            } catch {
                throw CommandFailure(error.message, status: ExitStatus.badData)
            }
        }
    }

    /// - Returns: whether it was made.
    private func makeIfMissing() throws -> Bool {
        let pem: [UInt8]
        do throws(SimulatorError) {
            pem = try P256PrivateKey.generate().pem()
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
        // Made with its rights at once, and never in the place of another one: without it devices would have to subscribe again.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            let reason = String(cString: strerror(errno))
            throw CommandFailure("\(file) cannot be made: \(reason)", status: ExitStatus.failed)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(pem))
            try handle.synchronize()
        } catch {
            unlink(file)
            throw CommandFailure("\(file) cannot be written: \(error.localizedDescription)", status: ExitStatus.failed)
        }
        return true
    }
}
