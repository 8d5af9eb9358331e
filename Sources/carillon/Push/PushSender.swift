import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import NotificationChannels
import NotificationModel
import OutboundHTTP

/// One connection to APNs, or to what stands for it.
struct PushSender {
    /// What came back.
    enum Outcome: Sendable {
        case answer(APNsAnswer)
        case failure(OutboundFailure)
    }

    private let origin: EgressURL
    private let pool: HTTP2Pool
    private let timeout: TimeAmount

    /// - Parameters:
    ///   - url: In the place of Apple's server; it is not judged.
    ///   - environment: Which of Apple's servers.
    ///   - authorities: A PEM file of authorities that are trusted besides the system's.
    ///   - identity: The certificate of the provider.
    ///   - timeout: For the connection and the answer together.
    /// - Throws: ``CommandFailure``.
    init(
        url: String?,
        environment: DeviceRegistration.Environment,
        authorities: String?,
        identity: OutboundTLS.Identity?,
        timeout: Duration
    ) throws {
        let text = url ?? "https://\(environment.apnsHost)"
        let amount = TimeAmount.milliseconds(timeout.milliseconds)
        self.timeout = amount
        do {
            let policy = try url == nil ? EgressPolicy() : .inside(text)
            origin = try policy.check(text)
            let hosts = HostAddresses(
                SystemResolver(threads: 1),
                slots: 1,
                timeout: amount,
                lifetime: .seconds(1),
                group: MultiThreadedEventLoopGroup.singleton,
                now: { .now() }
            )
            var settings = HTTP2Pool.Settings()
            (settings.connections, settings.keptConnections) = (1, 1)
            settings.openTimeout = amount
            settings.answerBytes = APNsAnswer.maximumBodyBytes
            pool = HTTP2Pool(
                settings,
                to: origin,
                hosts: GuardedHosts(policy: policy, hosts: hosts),
                tls: try OutboundTLS.Client(
                    and: authorities.map { try OutboundTLS.authorities(path: $0) } ?? [],
                    identity: identity
                )
            )
        } catch let refusal as EgressRefusal {
            throw CommandFailure("--url: \(refusal.detail)", status: ExitStatus.usage)
        } catch let error as OutboundTLS.AuthoritiesError {
            throw CommandFailure("--ca: \(error)", status: ExitStatus.noInput)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }

    /// Sends a push and waits for the answer.
    ///
    /// - Parameter authorization: Of a provider token; nil with a certificate.
    func send(_ push: APNsPush, to token: String, authorization: String?) async -> Outcome {
        let fields = push.fields(
            to: token,
            push.headers.shared(after: .pseudo("POST", origin)),
            authorization: authorization
        )
        let outcome = await withCheckedContinuation { continuation in
            pool.send(
                HTTP2Request(fields, body: ByteBuffer(bytes: push.payload), by: .now() + timeout) { result in
                    continuation.resume(returning: Self.outcome(result))
                }
            )
        }
        await pool.shutdown(by: .now())
        return outcome
    }

    private static func outcome(_ result: Result<HTTP2Answer, OutboundFailure>) -> Outcome {
        switch result {
        case .success(let answer):
            .answer(
                APNsAnswer(status: answer.status, body: Array(answer.body.readableBytesView)) { answer.field($0) }
            )
        case .failure(let failure): .failure(failure)
        }
    }
}
