import ArgumentParser
import Foundation
import NotificationConsumer
import NotificationModel

/// `carillon-bench recipient`.
struct RecipientCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "recipient",
        abstract: "What operations cost for a recipient with 10, 1,000 and 100,000 entries.",
        discussion: """
            The center of one partition has one recipient, of whose entries half are delivered, in 20 threads, and half \
            wait for a time. Each operation is repeated, and committed each time: a device is registered and deleted, a \
            notification is delivered in a thread, also where what the recipient is shown is counted again, the first \
            page of a query is read; in the end everything is removed. With the store in memory, and on disk. A cost \
            that grows with the entries lets one recipient slow the others of its lane. No broker is involved.

            Example: carillon-bench recipient --entries 100000
            """
    )

    @Option(help: "Entries of the largest recipient.")
    var entries = 100_000
    @Option(help: "Repetitions of an operation, at most: those that take long are repeated for two seconds.")
    var operations = 1_000
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--entries", entries, 100...1_000_000)
        try requireRange("--operations", operations, 1...1_000_000)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let sizes = [10, 1_000].filter { $0 < entries } + [entries]
        let workloads = try RecipientBenchmark.Kind.allCases.map { kind in
            let benchmark = RecipientBenchmark(kind: kind, operations: operations, workbench: workbench)
            return try workload(sizes, kind, sizes.map { try benchmark.run(entries: $0) })
        }
        return Report(benchmark: "recipient", workloads: workloads)
    }

    private func workload(
        _ sizes: [Int],
        _ kind: RecipientBenchmark.Kind,
        _ costs: [RecipientBenchmark.Costs]
    ) throws -> Workload {
        func row(_ name: String, _ title: String, _ cost: (RecipientBenchmark.Costs) -> Double) -> FigureRow {
            FigureRow(name, title: title, zip(sizes, costs).map { Figure("of_\($0)", "\($0) entries", cost($1)) })
        }
        var workload = Workload(
            name: "a recipient with up to \(entries) entries, \(kind.rawValue)\(Programs.build)",
            figures: [Figure("entries", given: entries)],
            parts: [
                row("register_us", "us to register a device and delete it") { $0.registration },
                row("deliver_us", "us to deliver in a thread") { $0.delivery },
                row("recount_us", "us to deliver in a thread that is counted again") { $0.recount },
                row("page_us", "us to read the first page") { $0.page },
                row("remove_us", "us an entry to remove everything") { $0.removal },
                row("remove_piece_us", "us of the longest piece of it") { $0.longestPiece },
            ]
        )
        if let few = costs.first, let many = costs.last, sizes.count > 1 {
            workload.ratios.set(.registrationOfManyEntries, many.registration, over: few.registration)
            workload.ratios.set(.deliveryOfManyEntries, many.delivery, over: few.delivery)
            workload.ratios.set(.recountOfManyEntries, many.recount, over: few.recount)
            workload.ratios.set(.pageOfManyEntries, many.page, over: few.page)
            workload.ratios.set(.removalOfManyEntries, many.removal, over: few.removal)
        }
        return workload
    }
}

/// Gives a recipient entries, and measures operations.
struct RecipientBenchmark {
    enum Kind: String, CaseIterable {
        case memory = "store in memory"
        case disk = "store on disk"
    }

    /// Microseconds.
    struct Costs {
        var registration = 0.0
        var delivery = 0.0
        var recount = 0.0
        var page = 0.0
        /// An entry.
        var removal = 0.0
        var longestPiece = 0.0
    }

    private static let threads = 20
    private static let perCommit = 2_000
    private static let patience = Duration.seconds(2)
    private static let week: Int64 = 7 * 86_400_000

    let kind: Kind
    let operations: Int
    let workbench: Workbench

    func run(entries: Int) throws -> Costs {
        let start = SystemClock.now()
        let store: any EntryStore =
            switch kind {
            case .memory: MemoryEntryStore()
            case .disk:
                try SQLiteEntryStore.open(
                    directory: workbench.place("recipient-\(entries)").path,
                    topic: "requests",
                    partition: 0,
                    cluster: "bench",
                    now: start
                ).store
            }
        defer { store.close(flushing: false) }
        workbench.report("a recipient with \(entries) entries, \(kind.rawValue)")
        // Deliveries add none: they replace each other.
        var recipient = try BenchedRecipient("ana", store: store, maximumEntries: 2 * entries + 100, at: start)
        try fill(&recipient, entries, at: start)
        return try measure(&recipient, entries, from: start)
    }

    private func fill(_ recipient: inout BenchedRecipient, _ entries: Int, at now: Timestamp) throws {
        try recipient.register("phone", device("phone"), at: now)
        for number in 0..<entries {
            try recipient.request(
                "order-\(number)",
                content: content(number),
                after: number.isMultiple(of: 2) ? nil : Self.week,
                at: now
            )
            guard number % Self.perCommit == 0 else { continue }
            try commit(&recipient, at: now)
        }
        try commit(&recipient, at: now)
    }

    private func measure(
        _ recipient: inout BenchedRecipient,
        _ entries: Int,
        from start: Timestamp
    ) throws -> Costs {
        var now = start
        func tick() -> Timestamp {
            now = now.adding(milliseconds: 1)
            return now
        }
        var costs = Costs()
        let pad = try device("pad")
        costs.registration = try repeated(&recipient) { recipient, _ in
            try recipient.register("pad", pad, at: tick())
            try recipient.commit(at: now)
            try recipient.register("pad", nil, at: tick())
            try recipient.commit(at: now)
        }
        // Of the first ten, which even the smallest recipient has.
        func deliver(_ recipient: inout BenchedRecipient, _ number: Int) throws {
            let inThread = try recipient.request("order-0", content: content(0), after: nil, at: tick())
            guard inThread > 0 else { throw BenchmarkError("delivery \(number) is in no thread") }
            try recipient.commit(at: now)
        }
        costs.delivery = try repeated(&recipient, deliver)
        costs.recount = try repeated(&recipient) { recipient, number in
            recipient.forgetThreads()
            try deliver(&recipient, number)
        }
        costs.page = try repeated(&recipient) { recipient, _ in
            guard try recipient.firstPage() > 0 else { throw BenchmarkError("the page is empty") }
        }
        let clock = ContinuousClock()
        var (began, longest) = (clock.now, Duration.zero)
        let removing = try clock.measure {
            try recipient.removeAll(at: tick()) { recipient in
                try recipient.commit(at: now)
                (longest, began) = (max(longest, clock.now - began), clock.now)
            }
        }
        guard try recipient.firstPage() == 0 else { throw BenchmarkError("the removal left notifications") }
        costs.removal = removing / .microseconds(1) / Double(entries)
        costs.longestPiece = longest / .microseconds(1)
        return costs
    }

    /// - Returns: microseconds for each time.
    private func repeated(
        _ recipient: inout BenchedRecipient,
        _ operation: (inout BenchedRecipient, Int) throws -> Void
    ) throws -> Double {
        try wait(for: recipient)
        let start = ContinuousClock.now
        var count = 0
        while count < operations, count == 0 || .now - start < Self.patience {
            try operation(&recipient, count)
            count += 1
        }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
    }

    private func commit(_ recipient: inout BenchedRecipient, at now: Timestamp) throws {
        try recipient.commit(at: now)
        try wait(for: recipient)
    }

    /// Until the store has written what it accepted: it would compete with what is measured.
    private func wait(for recipient: BenchedRecipient) throws {
        while recipient.unwritten > 0 { usleep(1_000) }
    }

    private func device(_ name: String) throws -> DeviceRegistration {
        try DeviceRegistration(platform: "fcm", token: "token-of-\(name)")
    }

    private func content(_ number: Int) -> [UInt8] {
        let text = #"{"title":"On its way","body":"Your order \#(number) has shipped.","threadIdentifier":"#
        return Array("\(text)\"thread-\(number % Self.threads)\"}".utf8)
    }
}
