package import NotificationChannels
package import NotificationConsumer
package import NotificationEnrichment
import NotificationModel
package import ServiceSupport

/// All settings of the consumer service's program: of the service, its channels and its enrichment. What concerns several of
/// them is checked here.
package struct ConsumerSettings: ServiceConfiguration {
    /// Of the service itself.
    package var service: ConsumerServiceConfiguration
    /// Which addresses it may connect to.
    package var egress = EgressConfiguration()
    /// For the channel `webhook`.
    package var webhook = WebhookConfiguration()
    /// For the channel `apns`.
    package var apns = APNsConfiguration()
    /// For the channel `fcm`.
    package var fcm = FCMConfiguration()
    /// For the channel `webpush`.
    package var webPush = WebPushConfiguration()
    /// For the channel `test`.
    package var testChannel = TestChannelConfiguration()
    /// The enrichment of notifications.
    package var enrichment = EnrichmentConfiguration()

    package var shared: SharedConfiguration {
        get { service.shared }
        set { service.shared = newValue }
    }

    /// All settings at their defaults.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    package init(bootstrapServers: [String]) {
        service = ConsumerServiceConfiguration(bootstrapServers: bootstrapServers)
    }

    package init(settings: inout ServiceSettings) {
        service = ConsumerServiceConfiguration(settings: &settings)
        egress = EgressConfiguration(settings: &settings)
        webhook = WebhookConfiguration(settings: &settings)
        checkWebhook(&settings)
        apns = APNsConfiguration(settings: &settings)
        check(
            .apns,
            &settings,
            apns.applicationsFile,
            with: "the bundle identifiers and keys of your apps",
            apns.timeout
        )
        fcm = FCMConfiguration(settings: &settings)
        check(
            .fcm,
            &settings,
            fcm.applicationsFile,
            with: "the package names and service accounts of your apps",
            fcm.timeout * 2,
            isHalf: true
        )
        webPush = WebPushConfiguration(settings: &settings)
        check(.webpush, &settings, webPush.applicationsFile, with: "the keys of your applications", webPush.timeout)
        checkDevices(&settings)
        enrichment = EnrichmentConfiguration(settings: &settings)
        testChannel = TestChannelConfiguration(settings: &settings)
        checkMediaAddress(&settings)
        service.furtherChannels = channels
    }

    /// All channels of the service. With `devices` it has those of the platforms whose settings are there.
    private var channels: Set<ChannelName> {
        var all = service.channels
        guard all.contains(.devices) else { return all }
        if !apns.applicationsFile.isEmpty { all.insert(.apns) }
        if !fcm.applicationsFile.isEmpty { all.insert(.fcm) }
        if !webPush.applicationsFile.isEmpty { all.insert(.webpush) }
        return all
    }

    // MARK: - Checks

    private func checkWebhook(_ settings: inout ServiceSettings) {
        guard channels.contains(.webhook) else { return }
        if webhook.url.isEmpty {
            settings.reject("webhook.url", "is required by the channel `webhook`: an https URL")
        } else if let problem = webhook.problemOfURL(egress) {
            settings.reject("webhook.url", problem)
        }
        if webhook.keysFile.isEmpty {
            settings.reject(
                "webhook.keys.file",
                "is required by the channel `webhook`: a file with a key, such as the output of "
                    + "`echo whsec_$(openssl rand -base64 32)`"
            )
        }
        if webhook.timeout >= service.lane.sendTimeout {
            settings.reject("webhook.timeout", "must be less than consumer.send.timeout")
        }
    }

    /// The channel of a platform has its file of applications, and ends an attempt before the lane does.
    private func check(
        _ channel: ChannelName,
        _ settings: inout ServiceSettings,
        _ file: String,
        with content: String,
        _ timeout: Duration,
        isHalf: Bool = false
    ) {
        guard channels.contains(channel) else { return }
        let name = channel.rawValue
        if file.isEmpty {
            settings.reject("\(name).applications.file", "is required by the channel `\(name)`: a file with \(content)")
        }
        if timeout >= service.lane.sendTimeout {
            settings.reject("\(name).timeout", "must be less than \(isHalf ? "half of " : "")consumer.send.timeout")
        }
    }

    /// The channel `devices` reaches at least one platform.
    private func checkDevices(_ settings: inout ServiceSettings) {
        guard channels.contains(.devices), channels.allSatisfy({ $0.platform == nil }) else { return }
        settings.reject(
            "apns.applications.file",
            "is required by the channel `devices`, or `fcm.applications.file`, or `webpush.applications.file`: a file with "
                + "your apps and their keys"
        )
    }

    /// Media are served under the HTTP port.
    private func checkMediaAddress(_ settings: inout ServiceSettings) {
        guard enrichment.isEnabled, enrichment.media.baseURL.isEmpty, service.queries.port == 0 else { return }
        settings.reject("media.url", "is required when `queries.port` is 0: the address of media is not known before")
    }
}
