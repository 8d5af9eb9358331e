package import ServiceSupport

/// Fetched media: how they are fetched, kept and served.
package struct MediaConfiguration: Sendable {
    /// Where they are kept; empty without enrichment.
    package var directory = ""
    /// Whether all instances of the service use that directory.
    package var isShared = false
    /// How much is kept, in MiB.
    package var megabytes = 10_240
    /// The part of it that one application may have, in percent.
    package var share = 75
    /// How long what a notification shows is kept after its delivery.
    package var kept = Duration.seconds(24 * 3600)
    /// Where clients reach `/media` of the service, without a slash at the end.
    package var baseURL = ""
    /// The file of the keys that sign links; empty for links that anybody can use.
    package var keysFile = ""
    /// How long a signed link can be used.
    package var linkLifetime = Duration.seconds(24 * 3600)
    /// Transfers to clients at one time, and of one client.
    package var (transfers, clientTransfers) = (1000, 100)
    /// Bytes a second of a transfer to a client; 0 for any rate.
    package var transferRate = 4096
    /// The longest audio, image and movie, in bytes.
    package var (audioBytes, imageBytes, movieBytes) = (5 << 20, 10 << 20, 50 << 20)
    /// For a connection with its TLS handshake, for the head of an answer, and for all of a download.
    package var connectTimeout = Duration.seconds(5)
    /// For the head of an answer.
    package var firstByteTimeout = Duration.seconds(10)
    /// For all of a download, its redirects included.
    package var timeout = Duration.seconds(25)
    /// Connections of the process.
    package var connections = 128
    /// Connections to one host and port.
    package var connectionsPerHost = 16
    /// Redirects of a download.
    package var redirects = 5
    /// Bytes a second of a download; 0 for any rate.
    package var minimumRate = 1024

    package init() {}

    /// Reads `media.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        directory =
            settings.optionalString("media.directory", about: "The directory in which fetched media are kept.") ?? ""
        isShared = settings.bool(
            "media.shared",
            default: isShared,
            about: """
                Whether all instances of the service use that directory. Without it only one instance can serve what it \
                fetched: a second one in the group ends its start.
                """
        )
        megabytes = settings.int(
            "media.megabytes",
            default: megabytes,
            in: 1...100_000_000,
            about: """
                How much is kept, in MiB. What no notification needs any more leaves first; when all is needed, a further \
                medium is refused as `store-full`.
                """
        )
        share = settings.int(
            "media.application.share",
            default: share,
            in: 1...100,
            about: """
                The part of it that the media of one application may have, in percent. Beyond it the application's own media \
                leave, and when it needs all of them a further one is refused as `store-full`.
                """
        )
        kept = settings.duration(
            "media.kept",
            default: kept,
            in: .seconds(1) ... .seconds(366 * 24 * 3600),
            about: "How long the media of a notification are kept after its delivery at least."
        )
        baseURL =
            settings.optionalString(
                "media.url",
                about: """
                    Where clients reach the HTTP port of the service, such as `https://media.example.com`: the address of a \
                    medium in a notification begins with it. By default the address on which the service listens.
                    """
            ) ?? ""
        while baseURL.hasSuffix("/") { baseURL.removeLast() }
        keysFile =
            settings.optionalString(
                "media.keys.file",
                about: """
                    The file of the keys that sign links to media, one `whsec_` key per line: the first signs, both are \
                    accepted. Without it everybody who knows a link can use it for ever.
                    """
            ) ?? ""
        linkLifetime = settings.duration(
            "media.link.lifetime",
            default: linkLifetime,
            in: .seconds(1) ... .seconds(366 * 24 * 3600),
            about: "How long a signed link can be used."
        )
        readTransfers(&settings)
        readDownloads(&settings)
    }

    private mutating func readTransfers(_ settings: inout ServiceSettings) {
        transfers = settings.int(
            "media.transfers",
            default: transfers,
            in: 1...100_000,
            about: "Media that are sent to clients at one time; above it 503."
        )
        clientTransfers = settings.int(
            "media.client.transfers",
            default: clientTransfers,
            in: 1...100_000,
            about: "Those of one client address; above it 503. Raise it when a cache or a proxy is in front."
        )
        transferRate = settings.int(
            "media.transfer.minimum-rate",
            default: transferRate,
            in: 0...(1 << 30),
            about: "Bytes a second that a client must take of a medium, after ten seconds; 0 for any rate."
        )
    }

    private mutating func readDownloads(_ settings: inout ServiceSettings) {
        func bytes(_ key: String, _ value: Int, _ what: String) -> Int {
            settings.int(
                key,
                default: value,
                in: 1...(1 << 30),
                about: "The most bytes of \(what); more is `too-large`."
            )
        }
        audioBytes = bytes("media.audio.bytes", audioBytes, "an audio")
        imageBytes = bytes("media.image.bytes", imageBytes, "an image")
        movieBytes = bytes("media.movie.bytes", movieBytes, "a movie")
        func time(_ key: String, _ value: Duration, _ about: String) -> Duration {
            settings.duration(key, default: value, in: .milliseconds(10) ... .seconds(600), about: about)
        }
        connectTimeout = time(
            "media.connect.timeout",
            connectTimeout,
            "How long a connection may take, with its TLS handshake."
        )
        firstByteTimeout = time(
            "media.first-byte.timeout",
            firstByteTimeout,
            "How long the head of an answer may take."
        )
        timeout = time(
            "media.timeout",
            timeout,
            "How long a download may take, its redirects included."
        )
        connections = settings.int(
            "media.connections",
            default: connections,
            in: 1...10_000,
            about: "Connections of the process to hosts of media; further downloads wait."
        )
        connectionsPerHost = settings.int(
            "media.host.connections",
            default: connectionsPerHost,
            in: 1...10_000,
            about: "Connections of the process to one host and port."
        )
        minimumRate = settings.int(
            "media.minimum-rate",
            default: minimumRate,
            in: 0...(1 << 30),
            about:
                "Bytes a second of a download, looked at every five seconds; a slower one is `too-slow`. 0 for any rate."
        )
        redirects = settings.int(
            "media.redirects",
            default: redirects,
            in: 0...20,
            about: "Redirects of a download; the address of each is checked."
        )
    }
}
