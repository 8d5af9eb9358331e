import Foundation

extension ConsumerServiceConfiguration {
    /// Fetched media: how they are fetched, kept and served.
    public struct Media: Sendable {
        /// Where they are kept; empty without enrichment.
        public var directory = ""
        /// Whether all instances of the service use that directory.
        public var isShared = false
        /// How much is kept, in MiB.
        public var megabytes = 10_240
        /// The part of it that one application may have, in percent.
        public var share = 75
        /// How long what a notification shows is kept after its delivery.
        public var kept = Duration.seconds(24 * 3600)
        /// Where clients reach `/media` of the service, without a slash at the end.
        public var baseURL = ""
        /// The file of the keys that sign links; empty for links that anybody can use.
        public var keysFile = ""
        /// How long a signed link can be used.
        public var linkLifetime = Duration.seconds(24 * 3600)
        /// Transfers to clients at one time, and of one client.
        public var (transfers, clientTransfers) = (1000, 100)
        /// Bytes a second of a transfer to a client; 0 for any rate.
        public var transferRate = 4096
        /// The longest audio, image and movie, in bytes.
        public var (audioBytes, imageBytes, movieBytes) = (5 << 20, 10 << 20, 50 << 20)
        /// For a connection with its TLS handshake, for the head of an answer, and for all of a download.
        public var connectTimeout = Duration.seconds(5)
        /// For the head of an answer.
        public var firstByteTimeout = Duration.seconds(10)
        /// For all of a download, its redirects included.
        public var timeout = Duration.seconds(25)
        /// Connections of the process.
        public var connections = 128
        /// Connections to one host and port.
        public var connectionsPerHost = 16
        /// Redirects of a download.
        public var redirects = 5
        /// Bytes a second of a download; 0 for any rate.
        public var minimumRate = 1024
    }

    mutating func readMedia(_ settings: inout ServiceSettings, defaults: Media) {
        media.directory =
            settings.optionalString("media.directory", about: "The directory in which fetched media are kept.") ?? ""
        media.isShared = settings.bool(
            "media.shared",
            default: defaults.isShared,
            about: """
                Whether all instances of the service use that directory. Without it only one instance can serve what it \
                fetched: a second one in the group ends its start.
                """
        )
        media.megabytes = settings.int(
            "media.megabytes",
            default: defaults.megabytes,
            in: 1...100_000_000,
            about: """
                How much is kept, in MiB. What no notification needs any more leaves first; when all is needed, a further \
                medium is refused as `store-full`.
                """
        )
        media.share = settings.int(
            "media.application.share",
            default: defaults.share,
            in: 1...100,
            about: """
                The part of it that the media of one application may have, in percent. Beyond it the application's own media \
                leave, and when it needs all of them a further one is refused as `store-full`.
                """
        )
        media.kept = settings.duration(
            "media.kept",
            default: defaults.kept,
            in: .seconds(1) ... .seconds(366 * 24 * 3600),
            about: "How long the media of a notification are kept after its delivery at least."
        )
        media.baseURL = baseURL(
            settings.optionalString(
                "media.url",
                about: """
                    Where clients reach the HTTP port of the service, such as `https://media.example.com`: the address of a \
                    medium in a notification begins with it. By default the address on which the service listens.
                    """
            )
        )
        media.keysFile =
            settings.optionalString(
                "media.keys.file",
                about: """
                    The file of the keys that sign links to media, one `whsec_` key per line: the first signs, both are \
                    accepted. Without it everybody who knows a link can use it for ever.
                    """
            ) ?? ""
        media.linkLifetime = settings.duration(
            "media.link.lifetime",
            default: defaults.linkLifetime,
            in: .seconds(1) ... .seconds(366 * 24 * 3600),
            about: "How long a signed link can be used."
        )
        readTransfers(&settings, defaults)
        readDownloads(&settings, defaults)
    }

    private mutating func readTransfers(_ settings: inout ServiceSettings, _ defaults: Media) {
        media.transfers = settings.int(
            "media.transfers",
            default: defaults.transfers,
            in: 1...100_000,
            about: "Media that are sent to clients at one time; above it 503."
        )
        media.clientTransfers = settings.int(
            "media.client.transfers",
            default: defaults.clientTransfers,
            in: 1...100_000,
            about: "Those of one client address; above it 503. Raise it when a cache or a proxy is in front."
        )
        media.transferRate = settings.int(
            "media.transfer.minimum-rate",
            default: defaults.transferRate,
            in: 0...(1 << 30),
            about: "Bytes a second that a client must take of a medium, after ten seconds; 0 for any rate."
        )
    }

    private func baseURL(_ text: String?) -> String {
        guard var text else { return "" }
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    private mutating func readDownloads(_ settings: inout ServiceSettings, _ defaults: Media) {
        func bytes(_ key: String, _ value: Int, _ what: String) -> Int {
            settings.int(
                key,
                default: value,
                in: 1...(1 << 30),
                about: "The most bytes of \(what); more is `too-large`."
            )
        }
        media.audioBytes = bytes("media.audio.bytes", defaults.audioBytes, "an audio")
        media.imageBytes = bytes("media.image.bytes", defaults.imageBytes, "an image")
        media.movieBytes = bytes("media.movie.bytes", defaults.movieBytes, "a movie")
        func time(_ key: String, _ value: Duration, _ about: String) -> Duration {
            settings.duration(key, default: value, in: .milliseconds(10) ... .seconds(600), about: about)
        }
        media.connectTimeout = time(
            "media.connect.timeout",
            defaults.connectTimeout,
            "How long a connection may take, with its TLS handshake."
        )
        media.firstByteTimeout = time(
            "media.first-byte.timeout",
            defaults.firstByteTimeout,
            "How long the head of an answer may take."
        )
        media.timeout = time(
            "media.timeout",
            defaults.timeout,
            "How long a download may take, its redirects included."
        )
        media.connections = settings.int(
            "media.connections",
            default: defaults.connections,
            in: 1...10_000,
            about: "Connections of the process to hosts of media; further downloads wait."
        )
        media.connectionsPerHost = settings.int(
            "media.host.connections",
            default: defaults.connectionsPerHost,
            in: 1...10_000,
            about: "Connections of the process to one host and port."
        )
        media.minimumRate = settings.int(
            "media.minimum-rate",
            default: defaults.minimumRate,
            in: 0...(1 << 30),
            about:
                "Bytes a second of a download, looked at every five seconds; a slower one is `too-slow`. 0 for any rate."
        )
        media.redirects = settings.int(
            "media.redirects",
            default: defaults.redirects,
            in: 0...20,
            about: "Redirects of a download; the address of each is checked."
        )
    }
}
