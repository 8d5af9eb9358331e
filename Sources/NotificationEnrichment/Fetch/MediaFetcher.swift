package import NIOCore
import NIOPosix
package import NIOSSL
package import OutboundHTTP

/// Fetches media from the web: safely, once for each URL at a time, and with bounds for everything.
///
/// A fetch takes these steps; each of them may end it with a ``OutboundFailure``:
///
/// 1. The policy judges the URL. A medium that is known for it and fresh is the result.
/// 2. Fetches of the same URL share one download. When the last one of them is cancelled or late, so is the download.
/// 3. The host is resolved, the policy judges all its addresses, and the connection goes to one of them. With TLS
///    (1.2 or newer) the certificate must be valid for the host.
/// 4. A redirect begins again at the first step, at most `Settings.redirects` times. A medium that was known is asked for
///    conditionally.
/// 5. The body is checked and written while it arrives, without decompression. At most 130 KiB of it are in memory, and
///    what is in the system's receive buffer (set to 256 KiB) when the server ends the connection.
///
/// Environment variables for proxies have no effect.
package final class MediaFetcher: Sendable {
    /// Bounds and time limits.
    package struct Settings: Sendable {
        /// Connections, opening and idle ones included.
        package var connections = 64
        package var connectionsPerHost = 8
        /// Redirects of a download; more are refused.
        package var redirects = 5
        /// Downloads that wait for a connection; further ones fail with `overloaded`.
        package var waiting = 1000
        package var resolveTimeout = TimeAmount.seconds(5)
        /// For the connection and its TLS handshake, all addresses of the host together.
        package var connectTimeout = TimeAmount.seconds(5)
        /// From the request to the head of the answer.
        package var firstByteTimeout = TimeAmount.seconds(10)
        /// For a download with all its redirects, from its first fetch; a fetch also ends at its own deadline.
        package var wholeTimeout = TimeAmount.seconds(30)
        /// How long a connection without a request is kept.
        package var idleTimeout = TimeAmount.seconds(30)
        /// How long a connection serves; then its host's addresses are judged again.
        package var connectionAge = TimeAmount.minutes(5)
        /// Bytes a second; a slower download fails as `too-slow`. 0 for any rate.
        package var minimumRate = 0
        /// The rate is looked at so often.
        package var rateWindow = TimeAmount.seconds(5)
        /// Look-ups of media hosts at one time, which applications share, and of the operator's services.
        package var (lookUps, serviceLookUps) = (16, 4)
        /// How long the addresses of a host serve for further downloads.
        package var addressLifetime = TimeAmount.seconds(5)
        /// URLs whose medium is known; 0: none.
        package var knownURLs = 10_000
        /// Threads that check and write.
        package var threads = 4
        package var limits = MediaLimits()

        package init() {}
    }

    private let settings: Settings
    private let hosts: GuardedHosts
    /// Apart from those of media, so that no host of media delays the operator's services.
    private let serviceHosts: HostAddresses
    private let known: KnownMedia
    private let keeper: MediaKeeper
    private let connections: OutboundConnections
    private let download: MediaDownload
    private let downloads: SharedWork<MediaKey, DownloadContext, Result<MediaDownload.Fetched, OutboundFailure>>
    private let counters = FetchCounters()

    /// What the fetches that share a download have in common.
    private struct DownloadContext: Sendable {
        let progress = DownloadProgress()
        let end: NIODeadline
        /// Of the first fetch, in milliseconds since 1970.
        let neededUntil: Int64
    }

    /// - Parameters:
    ///   - settings: The bounds and time limits.
    ///   - policy: Which hosts and addresses are allowed.
    ///   - store: Where the media go.
    ///   - resolver: Finds the addresses of hosts; nil for that of the operating system.
    ///   - roots: The certificate authorities.
    ///   - authorities: Authorities that are trusted besides.
    ///   - group: The event loops of the connections.
    ///   - now: The time for what is kept for a while; it must agree with the event loops'.
    /// - Throws: `NIOSSLError` or `BoringSSLError` when the roots cannot be read.
    package init(
        _ settings: Settings = Settings(),
        policy: EgressPolicy,
        store: MediaStore,
        resolver: (any HostResolver)? = nil,
        roots: NIOSSLTrustRoots = .default,
        authorities: [NIOSSLCertificate] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) throws {
        self.settings = settings
        let threads = NIOThreadPool(numberOfThreads: max(1, settings.threads))
        threads.start()
        known = KnownMedia(bound: settings.knownURLs, now: now)
        keeper = MediaKeeper(store: store, threads: threads)
        func hosts(_ threads: Int) -> HostAddresses {
            HostAddresses(
                resolver ?? SystemResolver(threads: threads),
                slots: threads,
                timeout: settings.resolveTimeout,
                lifetime: settings.addressLifetime,
                group: group,
                now: now
            )
        }
        self.hosts = GuardedHosts(policy: policy, hosts: hosts(settings.lookUps))
        serviceHosts = hosts(settings.serviceLookUps)
        var bounds = OutboundConnections.Settings()
        (bounds.bound, bounds.boundPerHost) = (max(1, settings.connections), max(1, settings.connectionsPerHost))
        bounds.waiting = max(0, settings.waiting)
        (bounds.connectTimeout, bounds.firstByteTimeout) = (settings.connectTimeout, settings.firstByteTimeout)
        (bounds.idleTimeout, bounds.age) = (settings.idleTimeout, settings.connectionAge)
        (bounds.minimumRate, bounds.rateWindow) = (settings.minimumRate, settings.rateWindow)
        connections = try OutboundConnections(
            bounds,
            hosts: self.hosts,
            trusting: roots,
            and: authorities,
            group: group,
            threads: threads
        )
        download = MediaDownload(
            hosts: self.hosts,
            connections: connections,
            known: known,
            keeper: keeper,
            limits: settings.limits,
            mostRedirects: settings.redirects
        )
        downloads = SharedWork(group: group)
    }

    deinit {
        connections.close()
        keeper.threads.shutdownGracefully { _ in }
    }

    /// What happened since the beginning, and what is under way.
    package var statistics: FetchStatistics {
        var statistics = counters.values
        let usage = connections.usage
        (statistics.connections, statistics.openedConnections) = (usage.open, usage.opened)
        (statistics.waiting, statistics.knownMedia) = (usage.waiting, known.count)
        return statistics
    }

    /// Ends all fetches with `cancelled`, closes all connections, and refuses further downloads.
    package func close() {
        connections.close()
        downloads.cancelAll()
    }

    /// Fetches a medium into the store. It ends by the request's deadline, or when its task is cancelled.
    ///
    /// - Parameters:
    ///   - request: What to fetch.
    ///   - onStep: Called with each step until the function returns, from any thread; it must not block.
    /// - Returns: The medium, which the store keeps until `neededUntil`, or why there is none.
    package func fetch(
        _ request: MediaRequest,
        onStep: (@Sendable (FetchStep) -> Void)? = nil
    ) async -> Result<FetchedMedia, OutboundFailure> {
        counters.begin()
        let observer = onStep.map { StepObserver($0) }
        let result: Result<FetchedMedia, OutboundFailure>
        do throws(OutboundFailure) {
            result = .success(try await fetched(request, observer))
        } catch {
            observer?.report(.refused(error))
            result = .failure(error)
        }
        observer?.end()
        counters.end(result)
        return result
    }

    /// Prepares requests to a service of the operator, which go through the fetcher's connections.
    ///
    /// - Parameters:
    ///   - url: Of the service.
    ///   - name: Of the enricher, for its failures.
    ///   - policy: Of this service alone; media may be allowed other origins.
    /// - Throws: The refusal of the URL.
    package func posting(
        to url: String,
        of name: String,
        by policy: EgressPolicy
    ) throws(EgressRefusal) -> any EnrichmentPosting {
        GuardedPosting(
            name: name,
            url: try policy.check(url),
            hosts: GuardedHosts(policy: policy, hosts: serviceHosts),
            connections: connections
        )
    }

    private func fetched(
        _ request: MediaRequest,
        _ observer: StepObserver?
    ) async throws(OutboundFailure) -> FetchedMedia {
        let url = try checked(request.url)
        let key = try MediaKey(url: url.text, typeHint: request.typeHint)
        guard request.deadline > .now() else {
            throw OutboundFailure(.timedOut, "the deadline passed before the fetch")
        }
        if let entry = known.fresh(key), try await keeper.keep(entry.stored, request.neededUntil) {
            observer?.report(.cached(entry.stored.media))
            return try result(entry.stored, .cached, request)
        }
        let context = DownloadContext(end: .now() + settings.wholeTimeout, neededUntil: request.neededUntil)
        var joined = context
        let outcome = await downloads.value(
            of: key,
            context: context,
            deadline: { min($0.end, request.deadline) },
            onJoin: { context, isFirst in
                joined = context
                guard let observer else { return }
                observer.report(isFirst ? .requested(origin: url.origin) : .joined)
                context.progress.add(observer)
            }
        ) { [download] context in
            do throws(OutboundFailure) {
                return .success(
                    try await download.run(
                        url,
                        key,
                        for: request.application,
                        neededUntil: context.neededUntil,
                        progress: context.progress
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .value(let value, let isFirst):
            let (stored, origin) = try value.get()
            if request.neededUntil > joined.neededUntil {
                guard try await keeper.keep(stored, request.neededUntil) else {
                    throw OutboundFailure(MediaStoreError(.failed, "the medium vanished from the store"))
                }
            }
            return try result(stored, isFirst ? origin : .shared, request)
        case .timedOut:
            throw OutboundFailure(.timedOut, "\(url.host): \(joined.progress.phase.rawValue)")
        case .cancelled:
            throw .cancelled
        }
    }

    private func checked(_ text: String) throws(OutboundFailure) -> EgressURL {
        do { return try hosts.policy.check(text) } catch { throw OutboundFailure(error) }
    }

    private func result(
        _ stored: MediaBody.Stored,
        _ origin: FetchedMedia.Origin,
        _ request: MediaRequest
    ) throws(OutboundFailure) -> FetchedMedia {
        try MediaKey.check(request.typeHint, among: [stored.facts.type])
        return FetchedMedia(stored: stored.media, facts: stored.facts, origin: origin)
    }
}
