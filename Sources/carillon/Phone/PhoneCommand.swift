import ArgumentParser
import Foundation
import Logging
import NotificationModel
import ServiceHTTP
import ServiceSupport

/// `carillon phone`: the page with simulated phones, for services that run elsewhere.
struct PhoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone",
        abstract: "Serve a page with simulated phones that any services reach.",
        discussion: """
            The phones are those of the simulators of APNs and FCM whose control interfaces are given. What is tapped and \
            typed on them goes to the services as an app sends it, and beside them are the events of each notification, read \
            from the topics. The page is served on this machine only.

            'carillon local' serves the same page.

            Examples:

              carillon phone --apns http://127.0.0.1:2199 --bootstrap-servers kafka:9092
              carillon phone --fcm http://127.0.0.1:2299 --listen 127.0.0.1:8084 \\
                --url https://push.example.com --queries-url https://queries.example.com \\
                --recipient-keys-file keys --token-file token --bootstrap-file bootstrap
            """
    )

    @Option(help: ArgumentHelp("Address of the page; port 0 takes a free one.", valueName: "host:port"))
    var listen = HostPort(host: "127.0.0.1", port: 8084)

    @Option(help: ArgumentHelp("Control interface of the simulator of APNs.", valueName: "url"))
    var apns: String?

    @Option(help: ArgumentHelp("The app on the iPhones.", valueName: "bundle"))
    var bundleIdentifier = LocalPushServices.app

    @Option(help: ArgumentHelp("Control interface of the simulator of FCM.", valueName: "url"))
    var fcm: String?

    @Option(help: ArgumentHelp("The app on the Android phones.", valueName: "name"))
    var package = LocalPushServices.app

    @Option(
        help: ArgumentHelp("The public key of Web Push, as 'carillon webpush keys' prints it.", valueName: "key")
    )
    var browserKey: String?

    @Option(help: ArgumentHelp("Default: CARILLON_APPLICATION_DEFAULT, else 'default'.", valueName: "name"))
    var application: String?

    @Option(
        help: ArgumentHelp(
            "The producer service. Default: CARILLON_HTTP_URL, else http://127.0.0.1:8080.",
            valueName: "url"
        )
    )
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The queries of the consumer service. Default: CARILLON_QUERIES_URL, else http://127.0.0.1:8083.",
            valueName: "url"
        )
    )
    var queriesURL: String?

    @Option(
        help: ArgumentHelp(
            "The file of http.recipient-keys.file: a key of HS256 in it signs the tokens of the phones.",
            valueName: "file"
        ),
        completion: .file()
    )
    var recipientKeysFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token of a back end, for what is sent. Default: CARILLON_HTTP_TOKEN.",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard ListenerSecurity.isLoopback(listen.host) else {
            throw ValidationError("--listen must be an address of this machine, such as 127.0.0.1:8084")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon phone") { try await serve() }
    }

    private func serve() async throws {
        bootstrapLogging(LoggingConfiguration(level: .notice))
        let connection = try kafka.connection()
        let application = application ?? connection.defaultApplication
        let signer: RecipientTokenSigner?
        do throws(ListenerSettingsError) {
            signer = try recipientKeysFile.map { path throws(ListenerSettingsError) in
                try RecipientTokenSigner(keysFile: path, application: application)
            }
        } catch {
            throw CommandFailure("--recipient-keys-file: \(error.message)", status: ExitStatus.badData)
        }
        let producer = try ServiceOptions.client(url, tokenFile: tokenFile)
        let queries = try ServiceOptions.client(queriesURL, queries: true)
        let server = PhoneServer(
            listen: listen,
            connection: connection,
            simulators: try simulators(),
            services: PhoneServices(
                producer: { producer },
                queries: { queries },
                application: application,
                signer: signer,
                now: SystemClock.now
            ),
            browserKey: browserKey,
            logger: Logger(label: "carillon phone")
        )
        let told = Task { if let url = try? await server.url { Terminal.write("phone  \(url)\n") } }
        defer { told.cancel() }
        try await ServiceRunner.run(
            [server],
            shutdownTimeout: .seconds(5),
            logger: Logger(label: "carillon phone")
        )
    }

    private func simulators() throws -> [PhoneSimulator] {
        try [(PhoneID.Platform.apns, apns, bundleIdentifier), (.fcm, fcm, package)].compactMap { platform, url, app in
            try url.map {
                PhoneSimulator(platform: platform, client: try ServiceOptions.client($0, environment: [:]), app: app)
            }
        }
    }
}
