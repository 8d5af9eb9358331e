/// The ratios of the benchmarks; raw values are the names in JSON.
enum Ratio: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case throughputVersusQuixStreams = "throughput_vs_quixstreams"
    case throughputVersusPython = "throughput_vs_python"
    case cpuVersusNative = "cpu_vs_native"
    case cpuVersusNativeJemalloc = "cpu_vs_native_jemalloc"
    case cpuOfDisk = "cpu_disk_vs_memory"
    case cpuOfTracing = "cpu_traced_vs_untraced"
    case cpuVersusWithoutDevices = "cpu_vs_without_devices"
    case responsesVersusPipeline = "responses_vs_pipeline"

    case putsVersusBareRoute = "puts_vs_bare_route"
    case eventsVersusPipeline = "events_vs_pipeline"

    case insertsVersusRedis = "inserts_vs_redis"
    case memoryVersusRedis = "memory_vs_redis"
    case insertsVersusAPScheduler = "inserts_vs_apscheduler"
    case memoryVersusAPScheduler = "memory_vs_apscheduler"
    case insertsVersusJemalloc = "inserts_vs_carillon-jemalloc"
    case memoryVersusJemalloc = "memory_vs_carillon-jemalloc"

    case nextVersusFoundation = "next_vs_foundation"
    case nextVersusDateutil = "next_vs_dateutil"

    case channelVersusWrk = "throughput_vs_wrk"
    case webhookServiceVersusWrk = "service_vs_wrk"

    case oneConnectionVersusLimit = "one_connection_vs_limit"
    case tenConnectionsVersusOne = "ten_connections_vs_one"
    case throughputVersusAioAPNs = "throughput_vs_aioapns"
    case throughputVersusFirebaseAdmin = "throughput_vs_firebase_admin"
    case throughputVersusPyWebPush = "throughput_vs_pywebpush"
    case throughputVersusH2Load = "throughput_vs_h2load"

    case fixesVersusFewRegions = "fixes_vs_few_regions"

    case fetchesVersusCurl = "throughput_vs_curl"

    case registrationOfManyEntries = "register_vs_few_entries"
    case deliveryOfManyEntries = "deliver_vs_few_entries"
    case recountOfManyEntries = "recount_vs_few_entries"
    case pageOfManyEntries = "page_vs_few_entries"
    case removalOfManyEntries = "remove_vs_few_entries"

    /// The title in tables.
    var title: String {
        switch self {
        case .throughputVersusQuixStreams: "throughput, times Quix Streams"
        case .throughputVersusPython: "throughput, times the Python loop"
        case .cpuVersusNative: "CPU a record, times the C++ program"
        case .cpuVersusNativeJemalloc: "CPU a record, times the C++ program, both with jemalloc"
        case .cpuOfDisk: "CPU a record with the store on disk, times in memory"
        case .cpuOfTracing: "CPU a record with spans, times without"
        case .cpuVersusWithoutDevices: "CPU a record with devices, times without"
        case .responsesVersusPipeline: "responses, times the requests"
        case .putsVersusBareRoute: "PUTs, times the bare route"
        case .eventsVersusPipeline: "business events, times the pipeline"
        case .insertsVersusRedis: "inserts, times Redis"
        case .memoryVersusRedis: "memory, times Redis"
        case .insertsVersusAPScheduler: "inserts, times APScheduler"
        case .memoryVersusAPScheduler: "memory, times APScheduler"
        case .insertsVersusJemalloc: "inserts, times those with jemalloc"
        case .memoryVersusJemalloc: "memory, times that with jemalloc"
        case .nextVersusFoundation: "occurrences, times Foundation's Calendar"
        case .nextVersusDateutil: "occurrences, times dateutil"
        case .channelVersusWrk: "notifications of the channel, times wrk"
        case .webhookServiceVersusWrk: "notifications of the consumer service, times wrk"
        case .oneConnectionVersusLimit: "pushes over one connection, times streams / round trip"
        case .tenConnectionsVersusOne: "pushes over ten connections, times one"
        case .throughputVersusAioAPNs: "pushes of the channel, times aioapns"
        case .throughputVersusFirebaseAdmin: "messages of the channel, times firebase-admin"
        case .throughputVersusPyWebPush: "messages of the channel, times pywebpush"
        case .throughputVersusH2Load: "pushes of the channel for each CPU second, times h2load"
        case .fixesVersusFewRegions: "locations, times those without the regions of others"
        case .fetchesVersusCurl: "images fetched and stored, times curl"
        case .registrationOfManyEntries: "registrations with many entries, times with few"
        case .deliveryOfManyEntries: "deliveries in a thread with many entries, times with few"
        case .recountOfManyEntries: "the same, counted again"
        case .pageOfManyEntries: "first pages with many entries, times with few"
        case .removalOfManyEntries: "an entry removed with many others, times with few"
        }
    }

    /// For throughput higher ratios are better, for CPU and memory lower ones.
    var isBetterWhenHigher: Bool {
        switch self {
        case .throughputVersusQuixStreams, .throughputVersusPython, .putsVersusBareRoute, .eventsVersusPipeline,
            .insertsVersusRedis, .insertsVersusAPScheduler, .insertsVersusJemalloc, .nextVersusFoundation,
            .nextVersusDateutil, .channelVersusWrk, .webhookServiceVersusWrk, .oneConnectionVersusLimit,
            .tenConnectionsVersusOne, .throughputVersusAioAPNs, .throughputVersusFirebaseAdmin,
            .throughputVersusPyWebPush, .throughputVersusH2Load, .fixesVersusFewRegions,
            .fetchesVersusCurl, .responsesVersusPipeline:
            true
        case .cpuVersusNative, .cpuVersusNativeJemalloc, .cpuOfDisk, .cpuOfTracing, .cpuVersusWithoutDevices,
            .memoryVersusRedis, .memoryVersusAPScheduler, .memoryVersusJemalloc, .registrationOfManyEntries,
            .deliveryOfManyEntries,
            .recountOfManyEntries, .pageOfManyEntries, .removalOfManyEntries:
            false
        }
    }
}

extension Ratio: Comparable {
    /// In the order of their declaration, which is that of tables.
    static func < (one: Ratio, other: Ratio) -> Bool { one.order < other.order }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension [Ratio: Double] {
    /// Sets one figure divided by another; omitted if a program did not run, or the divisor is not usable.
    mutating func set(_ ratio: Ratio, _ figure: Double?, over other: Double?) {
        guard let figure, let other, figure > 0, other > 0 else { return }
        self[ratio] = figure / other
    }
}
