import ArgumentParser
import NotificationChannels
import NotificationModel
import OutboundHTTP

/// `carillon push`: one push to one token.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send one push to one token of APNs, and explain the answer.",
        discussion: """
            It checks the push by Apple's rules, sends it, and explains the answer with what the service does after such a \
            one. A push that APNs or the device would refuse is not sent, unless --force is given. With --dry-run it only \
            shows what would go out. Neither a key nor a provider token is ever shown.

            The payload is made of the options, of a content as requests have it (--content), or is one that you have \
            (--payload): that is sent as it is, and it is shown what a content of Carillon says of it.

            The status is 1 when APNs refuses the push, 65 when it is not sent because of a problem, and 69 when there is \
            no answer.

            Examples:

              carillon push "$token" --bundle-identifier com.example.shop \\
                --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --title Hello
              carillon push "$token" --applications apns.yaml --application shop \\
                --environment development --payload payload.json --collapse-id order-1001
              carillon push "$token" --bundle-identifier com.example.shop --dry-run \\
                --title-key SHIPPED_TITLE --title-argument 1001 --expiration 15m --json
              carillon push "$token" --bundle-identifier com.example.shop --dry-run \\
                --event update --content-state '{"score":3}' --stale-date 10m
            """
    )

    @Argument(
        help: ArgumentHelp("The token in hexadecimal; spaces, < and > are ignored.", valueName: "token")
    )
    var token: String

    @Option(help: "Which of Apple's servers knows the token.")
    var environment = DeviceRegistration.Environment.production

    @OptionGroup(title: "Provider") var credentials: PushCredentialOptions
    @OptionGroup(title: "Headers") var headers: PushHeaderOptions
    @OptionGroup(title: "Payload") var content: PushContentOptions
    @OptionGroup(title: "Live Activity") var activity: PushActivityOptions

    @Option(help: ArgumentHelp("Another server than Apple's, such as a simulator.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp("Authorities that are trusted besides the system's, in PEM.", valueName: "file"),
        completion: .file(extensions: ["pem"])
    )
    var ca: String?

    @Option(
        help: ArgumentHelp("How long to wait for the answer: seconds, or a time such as 500ms.", valueName: "time")
    )
    var timeout = SpanArgument(.seconds(10))

    @Flag(help: "Show what would go out, and send nothing.")
    var dryRun = false

    @Flag(help: "Send it in spite of problems.")
    var force = false

    @Flag(help: "Write one JSON object.")
    var json = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard dryRun || credentials.isGiven else {
            throw ValidationError("--key, --certificate or --applications is needed, or --dry-run")
        }
        guard (.milliseconds(100) ... .seconds(600)).contains(timeout.duration) else {
            throw ValidationError("--timeout must be from 100ms to 10m")
        }
        guard activity.event == nil || (content.content == nil && content.payload == nil) else {
            throw ValidationError("--event is in the place of --content and --payload")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon push") {
            let provider = try credentials.provider(environment)
            var identity: OutboundTLS.Identity?
            if case .certificate(let certificate)? = provider?.credentials { identity = certificate }
            var generator = SystemRandomNumberGenerator()
            guard case .uuid(let id) = RequestID.random(using: &generator) else { return }
            let plan = try plan(
                provider?.application,
                hasCertificate: identity != nil,
                id: id,
                at: SystemClock.now()
            )
            let origin = url ?? "https://\(environment.apnsHost)"
            let isSent = !dryRun && (force || !plan.isRefused)
            guard isSent, let provider else {
                tell(plan, origin, provider, nil)
                guard plan.isRefused else { return }
                let why =
                    dryRun ? "the push breaks rules of Apple" : "not sent; --force sends it in spite of the problems"
                throw CommandFailure(why, status: ExitStatus.badData)
            }
            let sender = try PushSender(
                url: url,
                environment: environment,
                authorities: ca,
                identity: identity,
                timeout: timeout.duration
            )
            let outcome = await sender.send(plan.push, to: plan.token, authorization: try authorization(provider))
            tell(plan, origin, provider, outcome)
            try Self.check(outcome)
        }
    }

    private func authorization(_ provider: PushCredentialOptions.Provider) throws -> String? {
        guard case .tokens(let tokens) = provider.credentials else { return nil }
        guard let token = tokens.token(at: SystemClock.now()) else {
            throw CommandFailure("OpenSSL cannot sign with the key", status: ExitStatus.failed)
        }
        return token.authorization
    }

    private func tell(
        _ plan: PushPlan,
        _ origin: String,
        _ provider: PushCredentialOptions.Provider?,
        _ outcome: PushSender.Outcome?
    ) {
        guard !json else { return Terminal.write(json: PushReport.json(plan, to: origin, outcome)) }
        var text = ""
        if outcome == nil {
            text += PushReport.request(plan, to: origin, by: (provider?.credentials).map(PushReport.provider)) + "\n"
        }
        text += PushReport.findings(plan)
        if case .answer(let answer)? = outcome { text += PushReport.answer(answer) }
        if !text.isEmpty { Terminal.write(text) }
    }

    /// - Throws: ``CommandFailure`` unless APNs has accepted the push.
    static func check(_ outcome: PushSender.Outcome) throws(CommandFailure) {
        switch outcome {
        case .answer(let answer) where answer.action == .accept: return
        case .answer: throw CommandFailure("the push was refused", status: ExitStatus.failed)
        case .failure(let failure): throw CommandFailure(PushReport.failure(failure), status: ExitStatus.unavailable)
        }
    }
}
