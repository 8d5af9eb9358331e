import ArgumentParser
import Foundation
import NotificationConsumer
import NotificationModel

/// `carillon-bench location`.
struct LocationCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Locations of devices per second, with many regions of other recipients.",
        discussion: """
            The center of one partition, with its store on disk, gets a request with a location trigger for each \
            region, ten of each recipient; then locations of random recipients, of which some cross a boundary; then \
            locations of a hundredth of the recipients. A center that has only those gets the same: the ratio shows \
            what the regions of others cost. No broker is involved.

            Example: carillon-bench location --regions 1000000
            """
    )

    @Option(help: "Regions that notifications wait for.")
    var regions = 1_000_000
    @Option(help: "Locations.")
    var fixes = 200_000
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--regions", regions, 1_000...10_000_000)
        try requireRange("--fixes", fixes, 1_000...100_000_000)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let few = regions / 100
        let benchmark = LocationBenchmark(fixes: fixes, workbench: workbench)
        let results = try benchmark.run(regions: regions, locating: [regions, few])
        let alone = try benchmark.run(regions: few, locating: [few])[0]
        let (all, among) = (results[0], results[1])
        var workload = Workload(
            name: "\(regions) regions\(Programs.build)",
            figures: [
                Figure("regions", given: regions),
                Figure("fixes_per_second", "fixes/s", all.rate, as: .whole),
                Figure("fixes_per_second_among", "fixes/s of a hundredth of the recipients", among.rate, as: .whole),
                Figure("fixes_per_second_alone", "fixes/s of them without the others", alone.rate, as: .whole),
                Figure("sent", "notifications sent", Double(all.sent), as: .whole),
                Figure("changelog_bytes_per_fix", "bytes of changelog per fix", all.bytes),
            ]
        )
        workload.ratios.set(.fixesVersusFewRegions, among.rate, over: alone.rate)
        return Report(benchmark: "location", workloads: [workload])
    }
}

/// Fills a center with regions, and sends it locations.
struct LocationBenchmark {
    struct Result {
        var rate: Double
        var sent: Int
        var bytes: Double
    }

    private static let perRecipient = 10
    /// As a checkpoint of a busy lane.
    private static let perCommit = 2_000
    private static let content = Array(#"{"title":"Near the shop","body":"Your order is ready to be collected."}"#.utf8)

    let fixes: Int
    let workbench: Workbench

    /// - Parameter located: for each measurement, of how many of the regions the recipients are located.
    func run(regions: Int, locating located: [Int]) throws -> [Result] {
        let begun = SystemClock.now()
        let opened = try SQLiteEntryStore.open(
            directory: workbench.place("regions-\(regions)").path,
            topic: "requests",
            partition: 0,
            cluster: "bench",
            now: begun
        )
        defer { opened.store.close(flushing: false) }
        var center = try BenchedCenter(store: opened.store, maximumEntries: 2 * regions, at: begun)
        workbench.report("arming \(regions) regions")
        for number in 0..<regions {
            let key = try NotificationKey(
                application: "shop",
                recipient: recipient(number / Self.perRecipient),
                identifier: "region-\(number % Self.perRecipient)"
            )
            try center.request(trigger(number), key, content: Self.content, at: begun)
            guard number % Self.perCommit == 0 else { continue }
            try center.commit(at: begun)
            while opened.store.unwritten > 20_000 { usleep(1_000) }
        }
        try center.commit(at: begun)
        try opened.store.flush()
        guard center.pending == regions else { throw BenchmarkError("\(center.pending) of \(regions) regions wait") }
        return try located.enumerated().map { index, count in
            workbench.report("sending \(fixes) locations in \(count) of \(regions) regions")
            return try locate(
                in: count,
                from: begun.adding(milliseconds: Int64(index * fixes)),
                &center,
                opened.store
            )
        }
    }

    private func locate(
        in regions: Int,
        from start: Timestamp,
        _ center: inout BenchedCenter,
        _ store: SQLiteEntryStore
    ) throws -> Result {
        let recipients = regions / Self.perRecipient
        var (sent, bytes) = (0, 0)
        let time = try ContinuousClock().measure {
            for number in 0..<fixes {
                let who = Int(Pattern.mixed(number) % UInt64(recipients))
                let now = start.adding(milliseconds: Int64(number))
                sent += try center.locate(fix(of: who, number, at: now), of: recipient(who), at: now)
                guard number % Self.perCommit == 0 else { continue }
                bytes += try center.commit(at: now)
                while store.unwritten > 20_000 { usleep(1_000) }
            }
            bytes += try center.commit(at: start.adding(milliseconds: Int64(fixes)))
            try store.flush()
        }
        return Result(
            rate: Double(fixes) / (time / .seconds(1)),
            sent: sent,
            bytes: Double(bytes) / Double(fixes)
        )
    }

    private func recipient(_ number: Int) -> String { String(Pattern.mixed(number), radix: 16) }

    /// Its centre: each recipient has a row of regions, a kilometre apart.
    private func place(_ number: Int) -> (latitude: Double, longitude: Double) {
        let recipient = number / Self.perRecipient
        return (
            Double(Pattern.mixed(recipient) % 120) - 60 + Double(number % Self.perRecipient) * 0.009,
            Double(Pattern.mixed(recipient ^ 0x77) % 360) - 180
        )
    }

    private func trigger(_ number: Int) -> LocationTrigger {
        let (latitude, longitude) = place(number)
        return LocationTrigger(
            region: CircularRegion(latitude: latitude, longitude: longitude, radius: 200),
            notifyOnEntry: true,
            notifyOnExit: false,
            repeats: true
        )
    }

    /// Mostly between the regions; one in ten is in a region.
    private func fix(of recipient: Int, _ number: Int, at now: Timestamp) -> LocationFix {
        let (latitude, longitude) = place(recipient * Self.perRecipient + number % Self.perRecipient)
        let isInside = Pattern.mixed(number ^ 0x3333) % 10 == 0
        return LocationFix(
            device: "phone",
            latitude: latitude + (isInside ? 0 : 0.0045),
            longitude: longitude,
            accuracy: 15,
            at: now
        )
    }
}
