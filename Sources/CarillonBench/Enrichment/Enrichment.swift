import ArgumentParser
import OutboundHTTP

/// `carillon-bench enrichment`.
struct EnrichmentCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrichment",
        abstract: "Fetching, checking and storing of images, compared with curl; its memory; and the lead.",
        discussion: """
            The fetcher of the consumer service gets different PNG images of 50 KB with TLS from a local nginx \
            (Debian's package) into a new store, 64 at a time. curl (Debian's package) downloads the same into files, \
            with as many transfers at a time. Both use connections again; every image must arrive. ext4 is slow to \
            create files for minutes after many were deleted, so nothing is deleted before the end: wait as long \
            between two runs, or give --directory a tmpfs with 5 GB.

            It also has many large downloads in progress: the server sends their ends when everything else is in the \
            files. Peak memory is that of this process, beyond what it had after one small download.

            Then notifications with a time interval wait in the consumer service, on the embedded broker; their images \
            come from a server that takes a second. Lateness is the time of a `delivered` event less the due time, \
            without a lead and with one of 5 s.
            """
    )

    /// At a time, of the fetcher and of curl.
    private static let transfers = 64
    private static let leads = [0, 5]

    @Option(help: "Images of each measurement.")
    var images = 5_000
    @Option(help: "Number of measurements of each; the median counts.")
    var rounds = 5
    @Flag(inversion: .prefixedNo, help: "Measure the memory too.")
    var memory = true
    @Option(help: "Large downloads at the same time.")
    var downloads = 200
    @Option(help: "Bytes of each of them.")
    var downloadBytes = 10_000_000
    @Flag(inversion: .prefixedNo, help: "Measure the lead too.")
    var lead = true
    @Option(help: "Notifications with each lead; ten are due in a second.")
    var notifications = 200
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--images", images, 1...1_000_000)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--downloads", downloads, 1...2_000)
        try requireRange("--download-bytes", downloadBytes, 1_000_000...10_485_760)
        try requireRange("--notifications", notifications, 1...10_000)
    }

    var workloadName: String { "\(images) images, \(Self.transfers) at a time" }

    func measure(on workbench: Workbench) throws -> Report {
        let certificate = try TestCertificate(on: workbench)
        let curl = try Curl(transfers: Self.transfers, certificate: certificate.certificate, workbench: workbench)
        // First, while this process has no freed memory that it would use again.
        let memory = try memory ? memoryFigures(certificate, curl, workbench) : []
        var workload = try compare(certificate, curl, workbench)
        workload.figures += memory
        if lead {
            let benchmark = LeadBenchmark(notifications: notifications, curl: curl, workbench: workbench)
            workload.parts = try Self.leads.map { lead in
                FigureRow(
                    "lead_\(lead)_ms",
                    title: "ms late, lead of \(lead) s",
                    try benchmark.run(lead: lead).figures(as: .whole)
                )
            }
        }
        return Report(benchmark: "enrichment", workloads: [workload])
    }

    private func memoryFigures(
        _ certificate: TestCertificate,
        _ curl: Curl,
        _ workbench: Workbench
    ) throws -> [Figure] {
        let result = try MemoryBenchmark(
            downloads: downloads,
            bytes: downloadBytes,
            certificate: certificate,
            curl: curl,
            workbench: workbench
        ).run()
        return [
            Figure("downloads", given: downloads),
            Figure("held_bytes", "MiB of downloads in progress", Double(result.heldBytes), as: .mebibytes),
            Figure("peak_extra_bytes", "MiB of memory for them", Double(result.peakExtraBytes), as: .mebibytes),
        ]
    }

    private func compare(_ certificate: TestCertificate, _ curl: Curl, _ workbench: Workbench) throws -> Workload {
        let served = try ServedImages(images, certificate, on: workbench)
        defer { served.nginx.stop() }
        let fetcher = FetchBenchmark(
            concurrency: Self.transfers,
            certificate: certificate.certificate,
            workbench: workbench
        )
        var (ours, theirs): ([TransferRate], [TransferRate]) = ([], [])
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds): \(images) images")
            // What the first one leaves to the kernel and the disk is a burden of the second one.
            if round.isMultiple(of: 2) { ours.append(try fetcher.run(served)) }
            theirs.append(try curl.download(served))
            if !round.isMultiple(of: 2) { ours.append(try fetcher.run(served)) }
        }
        guard let ours = TransferRate(medianOf: ours), let theirs = TransferRate(medianOf: theirs) else {
            throw BenchmarkError("no rounds")
        }
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [Figure("images", given: images), Figure("rounds", given: rounds)],
            subjects: [
                FigureRow("fetcher", title: "fetched, checked and stored", ours.figures),
                FigureRow("curl", title: "curl, into files", theirs.figures),
            ]
        )
        workload.ratios.set(.fetchesVersusCurl, ours.perSecond, over: theirs.perSecond)
        return workload
    }
}

/// What downloads of one program took.
struct TransferRate {
    var perSecond: Double
    /// User and system time.
    var cpuSecondsPerThousand: Double

    init(_ count: Int, in time: Duration, cpuSeconds: Double) {
        perSecond = Double(count) / (time / .seconds(1))
        cpuSecondsPerThousand = cpuSeconds / Double(count) * 1000
    }

    /// The median of each figure; nil without rounds.
    init?(medianOf rounds: [TransferRate]) {
        guard let rate = Distribution(rounds.map(\.perSecond)).median,
            let cpu = Distribution(rounds.map(\.cpuSecondsPerThousand)).median
        else { return nil }
        (perSecond, cpuSecondsPerThousand) = (rate, cpu)
    }

    var figures: [Figure] {
        [
            Figure("images_per_second", "images/s", perSecond, as: .whole),
            Figure("cpu_seconds_per_thousand", "CPU s/thousand", cpuSecondsPerThousand),
        ]
    }
}
