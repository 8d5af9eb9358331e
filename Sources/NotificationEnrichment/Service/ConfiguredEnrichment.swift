package import Logging
package import NIOSSL
import NIOPosix
import NotificationModel
import OutboundHTTP
package import ServiceHTTP
package import ServiceSupport

/// Enrichment as the settings describe it: the worker of the lanes, and the route under which media are served.
package struct ConfiguredEnrichment {
    package let worker: StagedEnrichment
    package let routes: [Route]
    /// Reads the files of keys again, those of media and of enrichers, as SIGHUP does; nil where there are none.
    package let reload: (@Sendable () async -> Void)?

    /// - Parameters:
    ///   - configuration: checked.
    ///   - registry: receives counters and gauges.
    ///   - logger: the service's logger.
    ///   - roots: the certificate authorities, besides those of `egress.ca.file`.
    /// - Throws: `EnrichmentSettingsError`, `EgressPolicyError`, and errors of TLS for roots that cannot be read.
    package init(
        _ configuration: ConsumerServiceConfiguration,
        registry: PrometheusRegistry,
        logger: Logger,
        trusting roots: NIOSSLTrustRoots = .default
    ) throws {
        let media = configuration.media
        let file =
            try configuration.enrichment.chainsFile.isEmpty
            ? ChainsFile() : ChainsFile.load(path: configuration.enrichment.chainsFile)
        let keys = media.keysFile.isEmpty ? [] : try Self.keys(path: media.keysFile, of: .mediaKeys)
        let store = try MediaStore(media)
        let fetcher = try MediaFetcher(
            .init(media, configuration.egress),
            policy: configuration.egress.mediaPolicy(),
            store: store,
            roots: roots,
            authorities: configuration.egress.authorities()
        )
        let links = MediaLinks(base: configuration.mediaBase, keys: keys)
        let transfers = MediaTransfers(.init(media))
        let now: @Sendable () -> Int64 = { SystemClock.now().rawValue }
        let attachments = AttachmentsEnricher(
            fetching: StoredAttachments(
                fetcher: fetcher,
                links: links,
                linkLifetime: media.linkLifetime.milliseconds,
                now: now
            )
        )
        var keyFiles: [KeyFile] = []
        if !media.keysFile.isEmpty {
            keyFiles.append(KeyFile(path: media.keysFile, what: "media links") { links.use(keys: $0) })
        }
        let stage: EnrichmentStage
        do {
            stage = try EnrichmentStage(
                chains: file.chains,
                enrichers: [attachments] + Self.enrichers(file, fetcher, configuration.egress, &keyFiles)
            )
        } catch let error as EnrichmentChainError {
            throw EnrichmentSettingsError(.chainsFile, error.message)
        }
        worker = StagedEnrichment(
            stage,
            kept: media.kept.milliseconds,
            metrics: EnrichmentMetrics(registry, fetcher: fetcher, store: store, transfers: transfers),
            logger: logger,
            whenClosed: { fetcher.close() }
        )
        reload = KeyFile.reloading(keyFiles, logger)
        routes =
            MediaHandler(store: store, links: links, transfers: transfers, threads: .singleton, now: now).routes
    }

    /// Enrichment if the settings enable it; errors as for `init`.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - registry: receives counters and gauges.
    ///   - logger: the service's logger.
    package static func ifEnabled(
        _ configuration: ConsumerServiceConfiguration,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws -> ConfiguredEnrichment? {
        guard configuration.enrichment.isEnabled else { return nil }
        return try ConfiguredEnrichment(configuration, registry: registry, logger: logger)
    }

    private static func keys(
        path: String,
        of key: EnrichmentSettingsError.Key
    ) throws(EnrichmentSettingsError) -> [[UInt8]] {
        do throws(SigningKeyError) {
            return try SigningKeyFile.keys(path: path)
        } catch {
            throw EnrichmentSettingsError(key, error.message)
        }
    }

    private static func enrichers(
        _ file: ChainsFile,
        _ fetcher: MediaFetcher,
        _ egress: ConsumerServiceConfiguration.Egress,
        _ keyFiles: inout [KeyFile]
    ) throws -> [any Enricher] {
        var enrichers: [any Enricher] = []
        for (name, description) in file.enrichers.sorted(by: { $0.key < $1.key }) {
            switch description {
            case .template(let templates):
                do throws(TemplateSettingsError) {
                    enrichers.append(try TemplateEnricher(name: name, templates: templates))
                } catch {
                    throw EnrichmentSettingsError(.chainsFile, "the enricher `\(name)`: \(error)")
                }
            case .webhook(let url, let keysFile, let isInternal):
                let signer = RequestSigner(keys: try keys(path: keysFile, of: .chainsFile))
                keyFiles.append(
                    KeyFile(path: keysFile, what: "the enricher \(name)") {
                        signer.use(keysOf: RequestSigner(keys: $0))
                    }
                )
                let posting: any EnrichmentPosting
                let policy = try egress.policy()
                do throws(EgressRefusal) {
                    posting = try fetcher.posting(to: url, of: name, by: isInternal ? .inside(url) : policy)
                } catch {
                    let remedy = "if the service is inside your network, set `internal: true` for it in this file"
                    throw EnrichmentSettingsError(.chainsFile, "the enricher `\(name)`: \(error.detail); \(remedy)")
                }
                enrichers.append(
                    WebhookEnricher(name: name, posting: posting, signatures: { signer.signatures(of: $0) })
                )
            }
        }
        return enrichers
    }
}

extension ConsumerServiceConfiguration {
    /// Where clients reach the HTTP port: as the settings say, or the address on which the service listens.
    fileprivate var mediaBase: String {
        guard media.baseURL.isEmpty else { return media.baseURL }
        let scheme = queries.tlsCertificate == nil ? "http" : "https"
        let host = queries.host.contains(":") ? "[\(queries.host)]" : queries.host
        return "\(scheme)://\(host):\(queries.port)"
    }
}
