import ArgumentParser
import Logging
import NotificationChannels
import NotificationModel
import ServiceHTTP
import ServiceLifecycle
import ServiceSupport

/// `carillon receive`: an endpoint for the channel `webhook` that prints what it gets.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive webhooks, verify their signatures and print them.",
        discussion: """
            It accepts a POST to any path of up to four segments and answers 204, 401 when no key of the file has signed \
            the request in the last five minutes, or 400 when it is not a CloudEvent in structured mode. Each line has \
            the time, the key, the type and the notification, or why a request is refused.

            Example:

              echo "whsec_$(openssl rand -base64 32)" > keys
              carillon receive --keys-file keys &
              CARILLON_CHANNEL=webhook CARILLON_WEBHOOK_URL=http://127.0.0.1:8090/ \\
                CARILLON_WEBHOOK_INTERNAL=true CARILLON_WEBHOOK_KEYS_FILE=keys \\
                carillon local
            """
    )

    @Option(help: ArgumentHelp("Address to listen at; port 0 takes a free one.", valueName: "host:port"))
    var listen = HostPort(host: "127.0.0.1", port: 8090)

    @Option(
        help: ArgumentHelp("The file of webhook.keys.file.", valueName: "file"),
        completion: .file()
    )
    var keysFile: String

    func run() async throws {
        try await CommandFailure.told(by: "carillon receive") { try await serve() }
    }

    private func serve() async throws {
        bootstrapLogging(LoggingConfiguration(level: .notice))
        let logger = Logger(label: "carillon receive")
        let receiver: WebhookReceiver
        do {
            receiver = try WebhookReceiver(listen: listen, keysFile: keysFile, logger: logger)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.noInput)
        }
        do {
            try await ServiceRunner.run([receiver], shutdownTimeout: .seconds(5), logger: logger)
        } catch let error as ListenError {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }
}
