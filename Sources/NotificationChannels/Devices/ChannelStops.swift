import Logging
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Synchronization

/// The applications for which a channel sends nothing. `/health/ready`, events and the log say so.
final class ChannelStops: Sendable {
    private let channel: ChannelName
    private let service: String
    /// Receives the events.
    let changes = ChannelChanges()
    private let health: HealthComponent
    private let logger: Logger
    private let stops: Mutex<ApplicationStops>

    /// - Parameter service: of the channel, for people.
    init(_ channel: ChannelName, of service: String, _ health: HealthComponent, _ logger: Logger) {
        (self.channel, self.service, self.health, self.logger) = (channel, service, health, logger)
        stops = Mutex(ApplicationStops(of: service))
    }

    var count: Int { stops.withLock { $0.count } }

    /// As ``ApplicationStops/pause(of:at:)``.
    func pause(of application: String, at now: Timestamp) -> Int64? {
        stops.withLock { $0.pause(of: application, at: now) }
    }

    /// Nothing can be sent for an application until an operator corrects its settings.
    ///
    /// - Parameter environment: whose credentials are refused, where that makes a difference.
    func stop(
        _ application: String,
        _ environment: DeviceRegistration.Environment? = nil,
        because why: String,
        at now: Timestamp
    ) {
        let isNew = stops.withLock { stops in
            let isNew = stops.stop(application, because: why, at: now)
            health.remark(stops.summary)
            return isNew
        }
        guard isNew else { return }
        tell(.stopped, application, environment, at: now, why)
        logger.error(
            "nothing is sent through \(service) for an application: correct its credentials, and send SIGHUP",
            metadata: ["application": "\(application)", "reason": "\(why)"]
        )
    }

    /// The service has accepted a push of an application.
    func resume(_ application: String, _ environment: DeviceRegistration.Environment? = nil, at now: Timestamp) {
        let isResumed = stops.withLock { stops in
            guard stops.resume(application) else { return false }
            health.remark(stops.summary)
            return true
        }
        guard isResumed else { return }
        tell(.resumed, application, environment, at: now)
        logger.notice("\(service) accepts the credentials again", metadata: ["application": "\(application)"])
    }

    /// As ``ApplicationStops/tryAll()``.
    func tryAll() { stops.withLock { $0.tryAll() } }

    private func tell(
        _ name: ChannelEvent.Name,
        _ application: String,
        _ environment: DeviceRegistration.Environment?,
        at now: Timestamp,
        _ why: String? = nil
    ) {
        changes.add(
            ChannelEvent(
                name: name,
                channel: channel,
                application: application,
                environment: environment,
                at: now,
                reason: why
            )
        )
    }
}
