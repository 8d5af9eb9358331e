// swift-tools-version: 6.2

import PackageDescription

/// One list for every target of ours; each entry says where it is described.
let swiftSettings: [SwiftSetting] = [
    // SE-0335: `any` is written where an existential is meant.
    .enableUpcomingFeature("ExistentialAny"),
    // SE-0409: imports are internal unless said otherwise, so no C type reaches a public interface.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // SE-0444: a member is visible only where its module is imported.
    .enableUpcomingFeature("MemberImportVisibility"),
    // SE-0443: warnings are errors in our own targets; dependencies are not touched.
    .treatAllWarnings(as: .error),
]

/// With `OPTIMIZE_SIMULATION=1` optimized in debug builds, too: what the simulation runs, a tenth as fast without. Checks for
/// overflow and bounds stay. Only the scripts here set it: no package may depend on a product with unsafe flags.
let optimized: Set<String> =
    Context.environment["OPTIMIZE_SIMULATION"] != "1"
    ? []
    : [
        "CarillonSimulation", "Kafka", "NotificationConsumer", "NotificationDelivery", "NotificationModel",
        "NotificationState",
    ]

/// `LINK_JEMALLOC=1 swift build` links it: librdkafka allocates each header of a record by itself, and glibc's
/// allocator takes a third of a lane's time for that.
let allocator: [LinkerSetting] =
    Context.environment["LINK_JEMALLOC"] == "1" ? [.linkedLibrary("jemalloc")] : []

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "carillon",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "APNsSimulator", targets: ["APNsSimulator"]),
        .library(name: "FCMSimulator", targets: ["FCMSimulator"]),
        .library(name: "Kafka", targets: ["Kafka"]),
        .library(name: "LocalBroker", targets: ["LocalBroker"]),
        .library(name: "NotificationModel", targets: ["NotificationModel"]),
        .library(name: "NotificationPublisher", targets: ["NotificationPublisher"]),
        .library(name: "WebPushSimulator", targets: ["WebPushSimulator"]),
        .executable(name: "carillon", targets: ["carillon"]),
        .executable(name: "carillon-producer", targets: ["carillon-producer"]),
        .executable(name: "carillon-consumer", targets: ["carillon-consumer"]),
        .executable(name: "carillon-bench", targets: ["carillon-bench"]),
        .executable(name: "carillon-bench-native", targets: ["carillon-bench-native"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "Kafka", dependencies: ["COpenSSL", "CRDKafka", log]),
        .target(name: "LocalBroker", dependencies: ["CRDKafka", "Kafka", log]),
        .target(name: "NotificationModel", dependencies: ["COpenSSL"], resources: [.copy("Schemas")]),
        // What only the consumer service keeps in the topic `state`: no part of the published model.
        .target(name: "NotificationState", dependencies: ["NotificationDelivery", "NotificationModel"]),
        // Between the center and what sends or enriches: values and two protocols.
        .target(name: "NotificationDelivery", dependencies: ["NotificationModel"]),
        .target(name: "NotificationPublisher", dependencies: ["Kafka", "NotificationModel", log]),
        // Spans as values, and where they wait for their export; no I/O.
        .target(name: "ServiceTracing", dependencies: ["NotificationModel", deque]),
        .target(
            name: "ServiceHTTP",
            dependencies: [
                "COpenSSL", "NotificationModel", "ServiceTracing", log, metrics, coreMetrics, hummingbird,
                hummingbirdCore,
                httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS,
            ]
        ),
        // The client side of HTTP: judged addresses, one pool of connections, signing.
        .target(
            name: "OutboundHTTP",
            dependencies: [
                "COpenSSL", "NotificationModel", "ServiceHTTP", deque, heap, nioCore, nioHPACK, nioHTTP1,
                nioPosix, nioSSL, nioTLS,
            ]
        ),
        .target(
            name: "ServiceSupport",
            dependencies: [
                "Kafka", "NotificationModel", "OutboundHTTP", "ServiceHTTP", "ServiceTracing", log, metrics,
                coreMetrics,
                lifecycle, unixSignals,
                configuration, hummingbird, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL, yams,
            ],
            resources: [.embedInCode("HTTP/asyncapi.json")]
        ),
        .target(
            name: "NotificationProducer",
            dependencies: [
                "Kafka", "NotificationModel", "NotificationPublisher", "ServiceHTTP", "ServiceSupport",
                "ServiceTracing", log, metrics, lifecycle, hummingbird, httpTypes, nioCore, yams,
            ],
            resources: [.embedInCode("HTTP/openapi.json")]
        ),
        .target(
            name: "NotificationConsumer",
            dependencies: [
                "Kafka", "NotificationDelivery", "NotificationModel", "NotificationState", "ServiceHTTP",
                "ServiceSupport", "ServiceTracing", log, metrics, coreMetrics, lifecycle,
                heap,
                deque, grdb, sqlite, hummingbird, httpTypes, nioCore,
            ],
            resources: [.embedInCode("Query/openapi.json")]
        ),
        // What sends to devices, so that no client of another protocol enters the core.
        .target(
            name: "NotificationChannels",
            dependencies: [
                "COpenSSL", "NotificationDelivery", "NotificationModel", "NotificationState", "OutboundHTTP",
                "ServiceHTTP", "ServiceSupport",
                deque, log, metrics, coreMetrics, nioCore, nioHPACK, nioHTTP1, nioPosix, nioSSL, yams,
            ]
        ),
        // What gets media from the web and modifies contents, so that none of it enters the core.
        .target(
            name: "NotificationEnrichment",
            dependencies: [
                "COpenSSL", "NotificationDelivery", "NotificationModel", "NotificationState", "OutboundHTTP",
                "ServiceHTTP", "ServiceSupport",
                deque, log, metrics, hummingbird, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL, yams,
            ]
        ),
        // What servers that behave as push services do have in common: HTTP/2, faults, the control interface.
        .target(
            name: "PushSimulation",
            dependencies: [
                "COpenSSL", "NotificationModel", "ServiceHTTP", deque, log, coreMetrics, hummingbird, httpTypes,
                nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS,
            ]
        ),
        // A server that behaves as APNs does: for tests, of anyone's client.
        .target(
            name: "APNsSimulator",
            dependencies: [
                "COpenSSL", "NotificationModel", "PushSimulation", "ServiceHTTP", hummingbird, httpTypes,
                nioCore, nioHPACK, nioPosix, nioSSL,
            ]
        ),
        // The same for Firebase Cloud Messaging, with its token service.
        .target(
            name: "FCMSimulator",
            dependencies: [
                "COpenSSL", "NotificationModel", "PushSimulation", "ServiceHTTP", hummingbird, httpTypes,
                nioCore, nioHPACK, nioPosix, nioSSL,
            ]
        ),
        // A push service of Web Push, which real browsers use.
        .target(
            name: "WebPushSimulator",
            dependencies: [
                "NotificationModel", "PushSimulation", "ServiceHTTP", hummingbird, httpTypes, nioCore, nioHTTP1,
                nioPosix,
                nioSSL, nioWebSocket,
            ]
        ),
        .target(
            name: "CarillonBench",
            dependencies: [
                "APNsSimulator", "Kafka", "LocalBroker", "NotificationChannels", "NotificationConsumer",
                "NotificationEnrichment",
                "NotificationDelivery", "NotificationModel", "NotificationState", "NotificationPublisher",
                "OutboundHTTP", "PushSimulation", "ServiceHTTP", "ServiceSupport", log, argumentParser,
                hummingbird, hummingbirdCore, hummingbirdTLS, nioCore, nioPosix, nioSSL, unixSignals,
            ],
            resources: [.copy("Resources")]
        ),
        .target(
            name: "CarillonSimulation",
            dependencies: [
                "Kafka", "NotificationConsumer", "NotificationDelivery", "NotificationModel", "NotificationState",
                "NotificationProducer", "ServiceSupport", log,
                metrics, coreMetrics, heap,
            ]
        ),
        .executableTarget(name: "carillon-bench", dependencies: ["CarillonBench", "ServiceSupport", argumentParser]),
        .executableTarget(
            name: "carillon-bench-native",
            dependencies: ["CRDKafka", "COpenSSL"],
            // Not used by any library product, so nobody who depends on one is concerned.
            cxxSettings: [
                .unsafeFlags(["-O3"], .when(configuration: .release)),
                // RapidJSON 1.1.0 has a member function that newer compilers refuse when they read it.
                .unsafeFlags(["-fdelayed-template-parsing", "-Wno-deprecated"]),
            ]
        ),
        // The main programs of the services, for their executables and for `carillon` under their names.
        .target(
            name: "CarillonServices",
            dependencies: [
                "NotificationChannels", "NotificationConsumer", "NotificationDelivery", "NotificationEnrichment",
                "NotificationModel", "NotificationProducer", "ServiceSupport", "ServiceTracing", log,
            ]
        ),
        .executableTarget(name: "carillon-producer", dependencies: ["CarillonServices"]),
        .executableTarget(name: "carillon-consumer", dependencies: ["CarillonServices"]),
        .executableTarget(
            name: "carillon",
            dependencies: [
                "APNsSimulator", "CarillonServices", "CarillonSimulation", "FCMSimulator", "Kafka", "LocalBroker",
                "NotificationDelivery", "NotificationModel", "NotificationState", "PushSimulation",
                "NotificationPublisher",
                "NotificationProducer", "NotificationChannels", "NotificationConsumer", "NotificationEnrichment",
                "OutboundHTTP", "ServiceHTTP", "ServiceSupport", "ServiceTracing", "WebPushSimulator", hummingbird,
                httpTypes, metrics, log,
                lifecycle,
                nioCore, nioPosix, nioSSL, unixSignals,
                argumentParser, coreMetrics,
            ],
            // The page of phones, within the program: it needs no file beside it.
            resources: [
                "index.html", "phone.css", "phone.js", "screen.js", "notification.js", "timeline.js", "controls.js",
                "elements.js", "carillon.js", "carillon-subscribe.js", "carillon-worker.js",
            ].map { .embedInCode("Phone/Page/\($0)") } + [.embedInCode("Explain/life.css")]
        ),
        // For the comparison of calendar triggers with Python.
        .executableTarget(name: "calendar-oracle", dependencies: ["NotificationModel"]),
        // What tests share: a log, a generator, how to wait.
        .target(name: "TestSupport", dependencies: ["NotificationModel", log], path: "Tests/TestSupport"),
        // What tests of HTTP interfaces share: bytes over sockets, files with tokens and certificates.
        .target(
            name: "HTTPTesting",
            dependencies: ["LocalBroker", "OutboundHTTP", nioCore],
            path: "Tests/HTTPTesting"
        ),
        .testTarget(
            name: "APNsSimulatorTests",
            dependencies: [
                "APNsSimulator", "HTTPTesting", "NotificationModel", "PushSimulation", nioCore, nioHPACK, nioHTTP2,
                nioPosix, nioSSL,
            ]
        ),
        .testTarget(
            name: "FCMSimulatorTests",
            dependencies: [
                "FCMSimulator", "HTTPTesting", "NotificationModel", "PushSimulation", "ServiceHTTP", nioHPACK,
            ]
        ),
        .testTarget(
            name: "WebPushSimulatorTests",
            dependencies: ["NotificationModel", "PushSimulation", "ServiceHTTP", "WebPushSimulator"]
        ),
        .testTarget(
            name: "CarillonBenchTests",
            dependencies: [
                "CarillonBench", "Kafka", "NotificationChannels", "NotificationEnrichment", "NotificationDelivery",
                "NotificationModel", "NotificationState", "ServiceSupport", argumentParser,
            ]
        ),
        .testTarget(
            name: "CarillonServicesTests",
            dependencies: [
                "CarillonServices", "HTTPTesting", "NotificationChannels", "NotificationConsumer",
                "NotificationDelivery",
                "NotificationModel", "NotificationProducer", "ServiceSupport", log,
            ]
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "TestSupport", "carillon", "CarillonSimulation", "HTTPTesting", "Kafka", "LocalBroker",
                "NotificationChannels",
                "NotificationEnrichment", "NotificationModel", "NotificationState", "NotificationPublisher",
                "OutboundHTTP", "ServiceHTTP", "ServiceSupport", log,
                argumentParser,
            ]
        ),
        .testTarget(name: "KafkaTests", dependencies: ["TestSupport", "Kafka", "LocalBroker", log]),
        .testTarget(name: "LocalBrokerTests", dependencies: ["TestSupport", "Kafka", "LocalBroker", log]),
        .testTarget(
            name: "NotificationModelTests",
            dependencies: ["TestSupport", "NotificationDelivery", "NotificationModel", "NotificationState"],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(
            name: "NotificationPublisherTests",
            dependencies: ["TestSupport", "Kafka", "LocalBroker", "NotificationModel", "NotificationPublisher", log]
        ),
        .testTarget(
            name: "ServiceHTTPTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "NotificationModel", "ServiceHTTP", log, coreMetrics, metrics,
                hummingbird,
                hummingbirdCore, httpTypes, nioCore, nioEmbedded, nioHTTP1, nioTLS,
            ]
        ),
        .testTarget(
            name: "OutboundHTTPTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "LocalBroker", "NotificationModel", "OutboundHTTP", nioCore, nioEmbedded,
                nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
            ]
        ),
        .testTarget(
            name: "ServiceSupportTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "LocalBroker", "NotificationModel", "OutboundHTTP", "ServiceHTTP",
                "ServiceSupport", "ServiceTracing", log, coreMetrics, metrics, lifecycle, configuration, nioCore,
                nioPosix,
            ]
        ),
        .testTarget(
            name: "NotificationProducerTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "Kafka", "LocalBroker", "NotificationModel", "NotificationProducer",
                "ServiceHTTP",
                "ServiceSupport", log, metrics, lifecycle, httpTypes, nioCore,
            ]
        ),
        .testTarget(
            name: "NotificationConsumerTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "Kafka", "LocalBroker", "NotificationDelivery", "NotificationModel",
                "NotificationState",
                "NotificationConsumer", "ServiceHTTP",
                "ServiceSupport", "ServiceTracing", log, grdb,
            ]
        ),
        .testTarget(
            name: "NotificationChannelsTests",
            dependencies: [
                "TestSupport", "APNsSimulator", "COpenSSL", "FCMSimulator",
                "HTTPTesting", "LocalBroker", "Kafka", "NotificationChannels", "NotificationConsumer",
                "NotificationDelivery", "NotificationModel", "NotificationState", "OutboundHTTP", "ServiceHTTP",
                "ServiceSupport", "WebPushSimulator", log, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(
            name: "NotificationEnrichmentTests",
            dependencies: [
                "TestSupport", "HTTPTesting", "NotificationConsumer", "NotificationEnrichment", "NotificationDelivery",
                "NotificationModel", "NotificationState", "OutboundHTTP", "ServiceHTTP",
                "ServiceSupport", log, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]
        ),
        .testTarget(
            name: "CarillonSimulationTests",
            dependencies: [
                "CarillonSimulation", "Kafka", "NotificationConsumer", "NotificationDelivery", "NotificationModel",
                "NotificationState", log,
            ]
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestSupport", "CarillonServices", "CarillonSimulation", "Kafka", "LocalBroker", "NotificationConsumer",
                "NotificationModel",
                "NotificationState",
                "NotificationProducer",
                "ServiceSupport",
            ],
            resources: [.copy("Clients")]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx20
)

for target in package.targets where target.type == .executable { target.linkerSettings = allocator }

for target in package.targets where target.type != .system && target.name != "carillon-bench-native" {
    target.swiftSettings = swiftSettings
    guard optimized.contains(target.name) else { continue }
    target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
}
