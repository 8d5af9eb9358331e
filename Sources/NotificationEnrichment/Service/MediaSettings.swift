import NIOCore
import NotificationModel
package import ServiceSupport

extension MediaFetcher.Settings {
    /// The bounds and times of the configuration.
    package init(_ media: MediaConfiguration, _ egress: EgressConfiguration) {
        self.init()
        connectionAge = .nanoseconds(egress.connectionAge.nanoseconds)
        (connections, connectionsPerHost) = (media.connections, media.connectionsPerHost)
        redirects = media.redirects
        minimumRate = media.minimumRate
        connectTimeout = .nanoseconds(media.connectTimeout.nanoseconds)
        firstByteTimeout = .nanoseconds(media.firstByteTimeout.nanoseconds)
        wholeTimeout = .nanoseconds(media.timeout.nanoseconds)
        limits.audioBytes = Int64(media.audioBytes)
        limits.imageBytes = Int64(media.imageBytes)
        limits.movieBytes = Int64(media.movieBytes)
    }
}

extension MediaTransfers.Settings {
    /// The bounds of the configuration.
    init(_ media: MediaConfiguration) {
        self.init()
        (most, mostOfClient, minimumRate) = (media.transfers, media.clientTransfers, media.transferRate)
    }
}

extension MediaStore {
    /// Opens the directory of the configuration.
    ///
    /// - Throws: `EnrichmentSettingsError`.
    package convenience init(_ media: MediaConfiguration) throws(EnrichmentSettingsError) {
        do throws(MediaStoreError) {
            try self.init(
                Settings(directory: media.directory, bytes: Int64(media.megabytes) << 20, share: media.share),
                now: { SystemClock.now().rawValue }
            )
        } catch {
            throw EnrichmentSettingsError(.mediaDirectory, "\(error)")
        }
    }
}
