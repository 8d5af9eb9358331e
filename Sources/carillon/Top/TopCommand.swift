import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

/// `carillon top`: what the instances do, from their metrics.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show what the instances do, from their /metrics, in the terminal.",
        discussion: """
            For each instance: whether it is ready, its lanes and partitions, what is pending, how late the oldest due timer is, the lag, \
            and what waits for the broker and for channels. Below, over all instances: the lag by topic, requests, events, channels with \
            the reasons of refused pushes, and dead letters by reason, each with its rate since the picture before.

            It reads the ops ports and nothing else. An instance that does not answer stays in the list. Ctrl-C ends it.

            Examples:

              carillon top
              carillon top --url http://10.0.0.1:8082 --url http://10.0.0.2:8082
              carillon top --url http://10.0.0.1:8082 --once --interval 5s
            """
    )

    private static let usual = ["http://127.0.0.1:8081", "http://127.0.0.1:8082"]
    /// A page that is larger is not of a service.
    private static let maximumBytes = 64 << 20
    private static let maximumInstances = 100

    @Option(
        help: ArgumentHelp(
            "The ops port of an instance; repeatable. Default: \(usual.joined(separator: " and ")).",
            valueName: "url"
        )
    )
    var url: [String] = []

    @Option(help: ArgumentHelp("Time between two pictures, from 500ms to 1h.", valueName: "time"))
    var interval = SpanArgument(.seconds(2))

    @Flag(help: "Write one picture, whose rates are those of one interval, and end.") var once = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (.milliseconds(500) ... .seconds(3_600)).contains(interval.duration) else {
            throw ValidationError("--interval must be from 500ms to 1h")
        }
        guard url.count <= Self.maximumInstances else {
            throw ValidationError("--url can be given \(Self.maximumInstances) times")
        }
        for address in url { _ = try Self.base(of: address) }
    }

    private static func base(of address: String) throws -> URLComponents {
        guard let base = URLComponents(string: address), ["http", "https"].contains(base.scheme?.lowercased()),
            base.host?.isEmpty == false, ["", "/", "/metrics"].contains(base.path), base.query == nil, base.user == nil
        else {
            throw ValidationError("--url \(RecordText.safe(address)) needs a form such as \(usual[1])")
        }
        return base
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon top") {
            var instances: [Instance] = []
            for address in url.isEmpty ? Self.usual : url {
                let client = ServiceClient(
                    base: try Self.base(of: address),
                    token: nil,
                    timeout: SpanArgument(.seconds(5))
                )
                instances.append(Instance(name: address, client: client))
            }
            let shown = instances
            let (answered, signal) = try await Interruption.watched { try await show(shown) }
            guard signal == nil else { return }
            if !answered { throw ExitCode(ExitStatus.unavailable) }
        }
    }

    private struct Instance: Sendable {
        var name: String
        var client: ServiceClient

        func scrape(since start: ContinuousClock.Instant) async -> TopScrape {
            let answer: TopScrape.Answer
            do {
                let bytes = try await client.call("GET", "/metrics")
                answer =
                    bytes.count <= TopCommand.maximumBytes
                    ? .page(MetricsText(String(decoding: bytes, as: UTF8.self))) : .none("its page is too large")
            } catch let failure as CommandFailure {
                answer = .none(failure.description)
            } catch {
                answer = .none("no answer")
            }
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return TopScrape(name: name, answer: answer, time: Double(seconds) + Double(attoseconds) / 1e18)
        }
    }

    /// - Returns: Whether an instance answered last.
    private func show(_ instances: [Instance]) async throws -> Bool {
        let start = ContinuousClock.now
        var before: [TopScrape] = []
        while true {
            let now = await withTaskGroup(of: (Int, TopScrape).self) { group in
                for (index, instance) in instances.enumerated() {
                    group.addTask { (index, await instance.scrape(since: start)) }
                }
                var scrapes: [(Int, TopScrape)] = []
                for await scrape in group { scrapes.append(scrape) }
                return scrapes.sorted { $0.0 < $1.0 }.map(\.1)
            }
            let isAnswered = now.contains { $0.page != nil }
            if !once || !before.isEmpty || !isAnswered {
                Terminal.write(
                    painted: Self.picture(TopFrame(before: before, now: now), clears: !once && Terminal.isOutput)
                )
            }
            guard !once || (before.isEmpty && isAnswered) else { return isAnswered }
            before = now
            guard (try? await Task.sleep(for: interval.duration)) != nil else { return isAnswered }
        }
    }

    /// The frame, whose lines are escaped, with its head. On a terminal it replaces the one before.
    static func picture(_ frame: TopFrame, clears: Bool, at now: Timestamp = SystemClock.now()) -> String {
        let lines = ["carillon top  \(now.rfc3339)", ""] + frame.lines
        guard clears else { return lines.joined(separator: "\n") + "\n\n" }
        let size = Terminal.columns
        // To the top left; the rest of each line, and what is below, is cleared: without a flicker.
        return "\u{1B}[H" + lines.map { String($0.prefix(size)) + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
    }
}
