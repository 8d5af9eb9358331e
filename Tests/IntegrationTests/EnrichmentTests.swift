import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The consumer service with enrichment, and an independent host of media.
@Suite("A consumer service that enriches", .serialized)
struct EnrichmentTests {
    private static let deployment = "enrichment"
    private static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The host of media.
    private struct Host {
        struct Line: Decodable {
            var port: Int?
            var digest: String?
            var bytes: Int?
            var path: String?
            var closed: Bool?
            var verified: Bool?
        }

        let process: ChildProcess
        let origin: String
        let digest: String
        let bytes: Int

        init() async throws {
            let process = try ChildProcess(try Tools.python(), [Tools.client("media.py"), EnrichmentTests.key])
            self.process = process
            var first: Line?
            try await eventually("the host of media listens", orSay: { process.lastWords }) {
                guard process.isRunning else { throw ChildProcess.Failure(description: process.lastWords) }
                first = try Self.lines(process).first
                return first != nil
            }
            origin = "http://127.0.0.1:\(first?.port ?? 0)"
            (digest, bytes) = (first?.digest ?? "", first?.bytes ?? 0)
        }

        var lines: [Line] { get throws { try Self.lines(process) } }

        private static func lines(_ process: ChildProcess) throws -> [Line] {
            try process.outputLines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }

        func requests(of path: String) throws -> Int { try lines.count { $0.path == path && $0.closed == nil } }
    }

    /// What the tests share: the cluster, the host, the service and the events.
    private struct Setting {
        let carillon: CarillonCommand
        let host: Host
        let folder: TemporaryFolder
        let deliveries: KcatTopic

        func start(_ number: Int, _ further: [String: String] = [:]) throws -> ServiceProcess {
            var settings = ServiceProcess.settings(carillon.cluster, deployment: EnrichmentTests.deployment)
            settings["CARILLON_CONSUMER_START"] = "earliest"
            settings["CARILLON_ENRICHMENT_ENABLED"] = "true"
            settings["CARILLON_MEDIA_DIRECTORY"] = folder.file("media")
            settings["CARILLON_MEDIA_URL"] = "https://media.example.com/"
            settings["CARILLON_EGRESS_INTERNAL_ORIGINS"] = host.origin
            settings["CARILLON_QUERIES_PORT"] = "0"
            settings.merge(further) { _, new in new }
            return try ServiceProcess.consumer(settings, deployment: "\(EnrichmentTests.deployment)-\(number)")
        }

        /// Publishes a notification with attachments at these paths of the host, or at these URLs.
        func send(_ identifier: String, _ places: [String], title: String = "T", more: String = "") async throws
            -> String
        {
            let attachments = places.enumerated().map { index, place in
                let url = place.hasPrefix("/") ? host.origin + place : place
                return #"{"identifier":"a\#(index)","url":"\#(url)"}"#
            }
            let content =
                #"{"title":"\#(title)","mutableContent":true,"attachments":[\#(attachments.joined(separator: ","))]\#(more)}"#
            let file = try folder.write(
                #"{"application":"default","recipient":"ana","identifier":"\#(identifier)","content":\#(content)}"#,
                to: "\(identifier).json"
            )
            let sent = try await carillon.shell("\"$carillon\" send notification --file '\(file)' --json")
            return try #require(sent.members("requestId").first ?? nil, "\(sent.errors)")
        }

        func event(_ name: String, of id: String) async throws -> [String: Any] {
            let record = try await deliveries.records(1, "\(name) \(id)") { $0.name == name && $0["requestId"] == id }[
                0
            ]
            return try #require(JSONText.object(Data((record.payload ?? "").utf8)))
        }
    }

    private func with(_ body: (Setting) async throws -> Void) async throws {
        try await CarillonCommand.withCluster { carillon in
            let host = try await Host()
            let deliveries = try KcatTopic(carillon.cluster, "deliveries")
            do {
                let folder = try TemporaryFolder()
                try await body(Setting(carillon: carillon, host: host, folder: folder, deliveries: deliveries))
            } catch {
                Issue.record(error)
            }
            await deliveries.process.end()
            await host.process.end()
        }
    }

    /// The outcomes or reasons of the attachments in an event.
    private func outcomes(_ event: [String: Any]) throws -> [String] {
        let enrichment = try #require(event["enrichment"] as? [String: Any], "\(event)")
        let attachments = try #require(enrichment["attachments"] as? [[String: Any]])
        return attachments.map { $0["reason"] as? String ?? $0["outcome"] as? String ?? "" }
    }

    @Test(
        "what can be fetched is attached and served; the reason of the rest is in the event, and nothing of it in the log"
    )
    func attachments() async throws {
        try await with { setting in
            let host = setting.host
            let tokens = try setting.folder.write("query 0123456789abcdef0123456789abcdef", to: "tokens")
            let service = try setting.start(
                0,
                ["CARILLON_QUERIES_ENABLED": "true", "CARILLON_HTTP_TOKENS_FILE": tokens]
            )
            do {
                try await service.ready()
                let id = try await setting.send(
                    "mixed",
                    [
                        "/photo.png", "/truncated.png", "/page.png", "/away", "/missing.png",
                        "http://169.254.169.254/hidden", "https://2130706433/photo.png",
                    ],
                    title: "Scenario"
                )
                let event = try await setting.event("delivered", of: id)
                #expect(
                    try outcomes(event) == [
                        "attached", "truncated", "unsupported-type", "address-refused", "http-status",
                        "address-refused",
                        "address-refused",
                    ]
                )
                let enrichment = try #require(event["enrichment"] as? [String: Any])
                let first = try #require((enrichment["attachments"] as? [[String: Any]])?.first)
                #expect(enrichment["content"] as? String == "best-attempt")
                #expect(first["digest"] as? String == "sha256:\(host.digest)" && first["width"] as? Int == 64)
                let url = "https://media.example.com/media/\(host.digest).png"
                #expect(first["url"] as? String == url)
                let content = try #require(event["content"] as? [String: Any])
                let kept = try #require(content["attachments"] as? [[String: Any]])
                #expect(kept.count == 1 && kept[0]["url"] as? String == url && kept[0]["identifier"] as? String == "a0")
                try await served(by: service, host)
                let log = service.child.errorText
                for secret in ["Scenario", "photo.png", "hidden"] { #expect(!log.contains(secret), "\(secret)") }
                let metrics = try await service.metrics
                for line in [
                    "carillon_enrichments_total{content=\"best-attempt\"} 1",
                    "carillon_enrichment_attachments_total{outcome=\"attached\"} 1",
                    "carillon_enrichment_attachments_total{outcome=\"truncated\"} 1",
                    "carillon_media_store_files 1",
                ] {
                    #expect(metrics.contains("\n\(line)\n"), "\(line)")
                }
                for row in try BoundsTable().rows
                where ["enrichment.", "media.", "egress."].contains(where: { row.key.hasPrefix($0) }) {
                    guard let metric = row.metric else { continue }
                    #expect(metrics.contains("\n# TYPE \(metric) "), "\(row.key): \(metric)")
                }
                service.child.signal(SIGTERM)
                #expect(try await service.child.ended() == 0, "\(service.child.lastWords)")
            } catch {
                Issue.record(error, "\(service.child.lastWords)")
            }
            await service.child.end()
        }
    }

    /// Without a token, as a phone asks for it; the rest of the interface needs one.
    private func served(by service: ServiceProcess, _ host: Host) async throws {
        let base = "http://127.0.0.1:\(try await service.port("query API listens"))"
        let media = "\(base)/media/\(host.digest).png"
        let whole = try await Curl.send("GET", media)
        #expect(whole.status == 200 && whole.body.count == host.bytes && whole.headers["content-type"] == "image/png")
        #expect(whole.headers["x-content-type-options"] == "nosniff" && whole.headers["etag"] == "\"\(host.digest)\"")
        let part = try await Curl.send("GET", media, headers: [("range", "bytes=10-19")])
        #expect(part.status == 206 && part.body == whole.body[10..<20])
        #expect(part.headers["content-range"] == "bytes 10-19/\(host.bytes)")
        #expect(try await Curl.send("GET", media, headers: [("if-none-match", "\"\(host.digest)\"")]).status == 304)
        #expect(try await Curl.send("GET", media, headers: [("range", "bytes=\(host.bytes)-")]).status == 416)
        let head = try await Curl.send("HEAD", media, options: ["--head"])
        #expect(head.status == 200 && head.headers["content-length"] == "\(host.bytes)")
        for path in ["/media/\(String(repeating: "0", count: 64)).png", "/media/../\(host.digest).png", "/media/x"] {
            let answer = try await Curl.send("GET", base + path)
            #expect([401, 404].contains(answer.status) && answer.headers["content-type"] == "application/problem+json")
        }
        #expect(try await Curl.send("GET", "\(base)/v1/recipients/ana/notifications").status == 401)
        try await eventually("no transfer is left", orSay: { service.child.lastWords }) {
            try await service.metrics.contains("\ncarillon_media_transfers 0\n")
        }
    }

    @Test("a slow host delays a notification for its budget and not longer, and a removal ends the download")
    func slow() async throws {
        try await with { setting in
            let chains = try setting.folder.write("chains: {SHORT: attachments budget=2s}", to: "chains.yaml")
            let service = try setting.start(
                1,
                [
                    "CARILLON_ENRICHMENT_DEADLINE": "5m", "CARILLON_MEDIA_TIMEOUT": "5m",
                    "CARILLON_MEDIA_FIRST_BYTE_TIMEOUT": "5m", "CARILLON_ENRICHMENT_CHAINS_FILE": chains,
                ]
            )
            do {
                try await service.ready()
                let short = #","categoryIdentifier":"SHORT""#
                let id = try await setting.send("slow", ["/photo.png", "/hang.png"], more: short)
                let event = try await setting.event("delivered", of: id)
                #expect(try outcomes(event) == ["attached", "timed-out"])

                let removed = try await setting.send("removed", ["/hang.png"])
                try await eventually("the host has the request") { try setting.host.requests(of: "/hang.png") == 2 }
                _ = try await setting.carillon.shell(
                    "\"$carillon\" send removal --application default --recipient ana --identifier removed --json"
                )
                #expect(try await setting.event("cancelled", of: removed)["inDoubt"] == nil)
                try await eventually("the downloads are given up", orSay: { setting.host.process.lastWords }) {
                    try setting.host.lines.count { $0.closed == true } == 2
                }
            } catch {
                Issue.record(error, "\(service.child.lastWords)")
            }
            await service.child.end()
        }
    }

    @Test("killed in the middle of an enrichment, the service enriches again, and the media outlive it")
    func killed() async throws {
        try await with { setting in
            let first = try setting.start(2)
            let state = try ByteTopics(setting.carillon.cluster, "state")
            var last: ServiceProcess?
            do {
                try await first.ready()
                _ = try await setting.event("delivered", of: try await setting.send("before", ["/photo.png"]))
                let id = try await setting.send("during", ["/hang.png", "/photo.png"])
                try await eventually("the host has the request") { try setting.host.requests(of: "/hang.png") == 1 }
                try await eventually("it is committed", orSay: { first.child.lastWords }) { state.isCommitted(id) }
                first.child.signal(SIGKILL)
                #expect(try await first.child.ended() == -SIGKILL)
                let next = try setting.start(
                    3,
                    ["CARILLON_ENRICHMENT_DEADLINE": "4s", "CARILLON_ENRICHMENT_LEAD": "1s"]
                )
                last = next
                try await next.ready()
                let event = try await setting.event("delivered", of: id)
                #expect(try outcomes(event) == ["timed-out", "attached"], "\(event)")
                let base = "http://127.0.0.1:\(try await next.port("query API listens"))"
                #expect(try await Curl.send("GET", "\(base)/media/\(setting.host.digest).png").status == 200)
            } catch {
                Issue.record(error, "\((last ?? first).child.lastWords)")
            }
            await first.child.end()
            await last?.child.end()
            await state.process.end()
        }
    }

    @Test("the chain of a category has its templates and the user's own service, whose requests are signed")
    func chains() async throws {
        try await with { setting in
            let keys = try setting.folder.write(Self.key, to: "keys")
            let chains = try setting.folder.write(
                """
                enrichers:
                  template:hello:
                    subtitle: "For {{userInfo.name}}"
                  webhook:title:
                    url: \(setting.host.origin)/enrich
                    internal: true
                    keys: \(keys)
                chains:
                  HELLO: template:hello; webhook:title budget=20s; attachments
                  STRICT: template:hello on-failure=do-not-deliver
                """,
                to: "chains.yaml"
            )
            let service = try setting.start(4, ["CARILLON_ENRICHMENT_CHAINS_FILE": chains])
            do {
                try await service.ready()
                let id = try await setting.send(
                    "hello",
                    ["/photo.png"],
                    more: #","categoryIdentifier":"HELLO","userInfo":{"name":"Ana"}"#
                )
                let event = try await setting.event("delivered", of: id)
                let content = try #require(event["content"] as? [String: Any])
                #expect(content["title"] as? String == "From the service: T", "\(event)")
                #expect(content["subtitle"] as? String == "For Ana")
                #expect(try outcomes(event) == ["attached"])
                #expect(try setting.host.lines.filter { $0.path == "/enrich" }.map(\.verified) == [true])
                let strict = try await setting.send("strict", ["/photo.png"], more: #","categoryIdentifier":"STRICT""#)
                let withheld = try await setting.event("suppressed", of: strict)
                #expect(withheld["reason"] as? String == "not-enriched" && withheld["closes"] as? Bool == true)
            } catch {
                Issue.record(error, "\(service.child.lastWords)")
            }
            await service.child.end()
        }
    }

    @Test(
        "a wrong setting ends the start, and its message names the key",
        arguments: [
            (["CARILLON_MEDIA_DIRECTORY": ""], "media.directory"),
            (["CARILLON_MEDIA_DIRECTORY": "/nowhere/media"], "media.directory"),
            (["CARILLON_ENRICHMENT_LEAD": "31s"], "enrichment.lead"),
            (["CARILLON_ENRICHMENT_CHAINS_FILE": "/nowhere"], "enrichment.chains.file"),
            (["CARILLON_MEDIA_KEYS_FILE": "/nowhere"], "media.keys.file"),
            (["CARILLON_MEDIA_URL": ""], "media.url"),
            (["CARILLON_EGRESS_NETWORKS_DENIED": "10.0.0.0/33"], "egress.networks.denied"),
            (["CARILLON_EGRESS_HOSTS_ALLOWED": "exa mple.com"], "egress.hosts.allowed"),
        ] as [([String: String], String)]
    )
    func wrongSettings(_ wrong: [String: String], _ key: String) async throws {
        let folder = try TemporaryFolder()
        var settings = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
            "CARILLON_ENRICHMENT_ENABLED": "true",
            "CARILLON_MEDIA_DIRECTORY": folder.file("media"),
            "CARILLON_MEDIA_URL": "https://media.example.com",
            "CARILLON_QUERIES_PORT": "0",
            "CARILLON_OPS_PORT": "0",
        ]
        settings.merge(wrong) { _, new in new }
        let service = try ServiceProcess.consumer(settings.filter { !$0.value.isEmpty }, deployment: "wrong")
        #expect(try await service.child.ended() == 78, "\(service.child.lastWords)")
        #expect(service.child.errorText.contains(key), "\(service.child.errorText)")
    }
}
