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
    ///   - egress: which addresses media and enrichers may have.
    ///   - listening: the HTTP port under which media are served.
    ///   - registry: receives counters and gauges.
    ///   - logger: the service's logger.
    ///   - roots: the certificate authorities, besides those of `egress.ca.file`.
    /// - Throws: `EnrichmentSettingsError`, `EgressPolicyError`, and errors of TLS for roots that cannot be read.
    package init(
        _ configuration: EnrichmentConfiguration,
        _ egress: EgressConfiguration,
        listening: HTTPConfiguration,
        registry: PrometheusRegistry,
        logger: Logger,
        trusting roots: NIOSSLTrustRoots = .default
    ) throws {
        let media = configuration.media
        let file =
            try configuration.chainsFile.isEmpty
            ? ChainsFile() : ChainsFile.load(path: configuration.chainsFile)
        let keys = media.keysFile.isEmpty ? [] : try Self.keys(path: media.keysFile, of: .mediaKeys)
        let store = try MediaStore(media)
        let fetcher = try MediaFetcher(
            .init(media, egress),
            policy: egress.mediaPolicy(),
            store: store,
            roots: roots,
            authorities: egress.authorities()
        )
        let links = MediaLinks(base: media.base(listening), keys: keys)
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
                enrichers: [attachments] + Self.enrichers(file, fetcher, egress, &keyFiles)
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
        _ egress: EgressConfiguration,
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

extension MediaConfiguration {
    /// Where clients reach the HTTP port: as the settings say, or the address on which the service listens.
    fileprivate func base(_ listening: HTTPConfiguration) -> String {
        guard baseURL.isEmpty else { return baseURL }
        let scheme = listening.tlsCertificate == nil ? "http" : "https"
        let host = listening.host.contains(":") ? "[\(listening.host)]" : listening.host
        return "\(scheme)://\(host):\(listening.port)"
    }
}
