import Foundation
import NIOCore
import NIOSSL
import OutboundHTTP
import Synchronization

@testable import NotificationEnrichment

/// A resolver whose answers a test gives.
final class ScriptedResolver: HostResolver {
    struct Failure: Error {}

    private let answers: Mutex<[[IPAddress]]>
    private let asked = Mutex<[String]>([])

    /// - Parameter answers: one for each look-up; the last one for all further ones.
    init(_ answers: [[String]] = [["127.0.0.1"]]) {
        self.answers = Mutex(answers.map { $0.compactMap { IPAddress(canonical: $0) } })
    }

    /// The hosts of the look-ups.
    var hosts: [String] { asked.withLock { $0 } }

    func addresses(of host: String) async throws -> [IPAddress] {
        asked.withLock { $0.append(host) }
        return answers.withLock { answers in
            answers.count > 1 ? answers.removeFirst() : answers.first ?? []
        }
    }
}

/// Time that passes, and that the test moves in addition.
final class FetchTime: Sendable {
    private let moved = Mutex(TimeAmount.zero)

    var now: NIODeadline { .now() + moved.withLock { $0 } }

    func advance(_ time: TimeAmount) { moved.withLock { $0 = $0 + time } }
}

/// A resolver that never answers.
struct SilentResolver: HostResolver {
    func addresses(of host: String) async throws -> [IPAddress] {
        try await Task.sleep(for: .seconds(3600))
        return []
    }
}

/// A fetcher with a store of its own that may reach the test's servers.
struct FetchBench {
    static let host = "img.shop.com"

    let fetcher: MediaFetcher
    let policy: EgressPolicy
    let store: MediaStore
    let directory: String
    private let folder: FetchFolder

    init(
        _ servers: MediaServer...,
        host: String = FetchBench.host,
        scheme: String = "http",
        origins: [String] = [],
        internalOrigins: [String] = [],
        resolver: any HostResolver = ScriptedResolver(),
        roots: NIOSSLTrustRoots = .certificates([]),
        storeBytes: Int64 = 1 << 30,
        time: FetchTime = FetchTime(),
        _ change: (inout MediaFetcher.Settings) -> Void = { _ in }
    ) throws {
        folder = try FetchFolder()
        directory = "\(folder.path)/media"
        store = try MediaStore(
            MediaStore.Settings(directory: directory, bytes: storeBytes),
            now: { Int64(Date().timeIntervalSince1970 * 1000) }
        )
        var settings = MediaFetcher.Settings()
        // A test that fails must not wait for long; no test depends on it.
        (settings.wholeTimeout, settings.firstByteTimeout) = (.seconds(120), .seconds(60))
        (settings.connectTimeout, settings.resolveTimeout) = (.seconds(60), .seconds(60))
        change(&settings)
        policy = try EgressPolicy(
            origins: origins,
            internalOrigins: servers.map { "\(scheme)://\(host):\($0.port)" } + internalOrigins
        )
        fetcher = try MediaFetcher(
            settings,
            policy: policy,
            store: store,
            resolver: resolver,
            roots: roots,
            now: { time.now }
        )
    }

    func fetch(
        _ url: String,
        for application: String = "",
        typeHint: String? = nil,
        neededFor seconds: Double = 3600,
        within time: TimeAmount = .seconds(120),
        onStep: (@Sendable (FetchStep) -> Void)? = nil
    ) async -> Result<FetchedMedia, OutboundFailure> {
        let neededUntil = Int64((Date().timeIntervalSince1970 + seconds) * 1000)
        let request = MediaRequest(
            url: url,
            for: application,
            typeHint: typeHint,
            neededUntil: neededUntil,
            deadline: .now() + time
        )
        return await fetcher.fetch(request, onStep: onStep)
    }

    /// The reason code of a fetch that fails; nil when it does not.
    func code(_ url: String, typeHint: String? = nil, within time: TimeAmount = .seconds(120)) async -> String? {
        await fetch(url, typeHint: typeHint, within: time).failure?.code
    }

    /// The bytes of a stored medium.
    func bytes(_ media: StoredMedia) throws -> [UInt8] {
        let path = "\(directory)/\(media.fileName.prefix(2))/\(media.fileName)"
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Temporary files of downloads.
    var unfinished: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/incoming")) ?? []
    }
}

extension MediaServer {
    /// For the fetchers of `FetchBench`.
    func url(_ target: String, scheme: String = "http", host: String = FetchBench.host) -> String {
        "\(scheme)://\(host):\(port)\(target)"
    }
}

extension Result where Failure == OutboundFailure {
    var failure: OutboundFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// A folder that is deleted with its last reference.
final class FetchFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("fetch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A self-signed certificate made by `openssl`, its key, and TLS with them.
struct FetchCertificate {
    struct Failure: Error {}

    let certificate: NIOSSLCertificate
    private let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - names: as `DNS:img.shop.com` or `IP:127.0.0.1`.
    ///   - isExpired: whether its life ended in the past.
    init(_ names: String = "DNS:\(FetchBench.host)", isExpired: Bool = false) throws {
        let folder = try FetchFolder()
        let (keyFile, requestFile, file) = (
            "\(folder.path)/key", "\(folder.path)/request", "\(folder.path)/certificate"
        )
        let request = [
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=\(FetchBench.host)",
            "-addext", "subjectAltName=\(names)", "-keyout", keyFile,
        ]
        if isExpired {
            let settings = """
                [ca]
                default_ca=own
                [own]
                database=\(folder.path)/index
                new_certs_dir=\(folder.path)
                rand_serial=yes
                default_md=sha256
                policy=any
                copy_extensions=copy
                [any]
                commonName=optional
                """
            try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/settings"))
            try Data().write(to: URL(fileURLWithPath: "\(folder.path)/index"))
            try Self.openssl(request + ["-new", "-out", requestFile])
            try Self.openssl([
                "ca", "-selfsign", "-batch", "-notext", "-config", "\(folder.path)/settings", "-keyfile", keyFile,
                "-in",
                requestFile, "-out", file, "-startdate", "20200101000000Z", "-enddate", "20200102000000Z",
            ])
        } else {
            try Self.openssl(request + ["-x509", "-days", "2", "-out", file])
        }
        guard let certificate = try NIOSSLCertificate.fromPEMFile(file).first else { throw Failure() }
        self.certificate = certificate
        key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure() }
    }

    var server: NIOSSLContext {
        get throws {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: [.certificate(certificate)],
                    privateKey: .privateKey(key)
                )
            )
        }
    }

    var roots: NIOSSLTrustRoots { .certificates([certificate]) }
}

/// Images of any size.
enum FetchImage {
    /// A PNG of 1×1 pixel.
    ///
    /// - Parameters:
    ///   - bytes: about its size.
    ///   - seed: another one for other bytes.
    static func png(bytes: Int = 100, seed: Int = 0) -> [UInt8] {
        let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]
        let pixels: [UInt8] = [0x78, 0x01, 0x01, 0x02, 0x00, 0xFD, 0xFF, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01]
        let filler =
            withUnsafeBytes(of: seed.bigEndian) { Array($0) } + [UInt8](repeating: 7, count: max(0, bytes - 100))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("teSt", filler)
            + chunk("IDAT", pixels) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return number(UInt32(data.count)) + body + number(crc(body))
    }

    private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }
}

extension MediaServer {
    var address: IPAddress? { IPAddress(canonical: "127.0.0.1") }
}

extension FetchBench {
    /// Waits until the temporary files of refused downloads are gone: they are removed on a thread.
    func noFilesRemain() async {
        while !unfinished.isEmpty { await Task.yield() }
    }
}

extension FetchBench {
    func remove(_ media: StoredMedia) throws {
        try FileManager.default.removeItem(atPath: "\(directory)/\(media.fileName.prefix(2))/\(media.fileName)")
    }
}
