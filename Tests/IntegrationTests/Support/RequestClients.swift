import Foundation
import TestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Python clients that publish requests, and compare the requests with the events.
final class RequestClients: Sendable {
    /// The prefix of the recipients' names.
    static let recipients = "scenario"

    private let cluster: Cluster
    private let contents = Mutex<(accepted: [String], load: ChildProcess?)>(([], nil))

    init(_ cluster: Cluster) {
        self.cluster = cluster
    }

    /// The ids of the requests that were acknowledged.
    var accepted: [String] { contents.withLock { $0.accepted } }

    private func start(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            try Tools.python(),
            [
                Tools.client("requests.py"), "--bootstrap", cluster.bootstrapServers, "--topic",
                cluster.topic("requests"), "--recipients", Self.recipients, "--name", name,
            ] + arguments
        )
    }

    private func ids(of publisher: ChildProcess) async throws -> [String] {
        guard try await publisher.ended() == 0, let line = publisher.outputLines.last,
            let ids = JSONText.object(Data(line.utf8))?["requests"] as? [String]
        else { throw ChildProcess.Failure(description: publisher.lastWords) }
        return ids
    }

    func publish(_ requests: RequestBatch) async throws {
        var arguments = ["--count", "\(requests.count)", "--spread", "\(requests.recipients)"]
        if let due = requests.due { arguments += ["--interval", "\(due.components.seconds)"] }
        let ids = try await ids(of: try start(requests.name, arguments))
        guard ids.count == requests.count else {
            throw ChildProcess.Failure(description: "\(ids.count) of \(requests.count) were acknowledged")
        }
        contents.withLock { $0.accepted += ids }
    }

    /// Enough records for the first recipient to make the embedded broker delete the older records of its partition.
    func overflow() async throws {
        _ = try await ids(of: try start("filler", ["--count", "60", "--spread", "1", "--padding", "200000"]))
    }

    func beginLoad() throws {
        let load = try start("load", ["--spread", "64", "--pause", "0.005"])
        contents.withLock { $0.load = load }
    }

    /// Waits until the load has had so many more acknowledged.
    func load(reaches more: Int) async throws {
        guard let load = contents.withLock({ $0.load }) else { return }
        func reached() -> Int {
            load.outputLines.last.flatMap { JSONText.object(Data($0.utf8))?["accepted"] as? Int } ?? 0
        }
        let start = reached()
        try await eventually("\(more) more requests are accepted", orSay: { load.lastWords }) {
            guard load.isRunning else { throw ChildProcess.Failure(description: load.lastWords) }
            return reached() >= start + more
        }
    }

    func endLoad() async throws {
        guard let load = contents.withLock({ $0.load }) else { return }
        load.signal(SIGTERM)
        let ids = try await ids(of: load)
        contents.withLock { $0 = ($0.accepted + ids, nil) }
    }

    /// Waits until every acknowledged request has its event, and the given number of them is open; any number for nil.
    func account(open: Int?) async throws -> Account {
        let settled = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("settle.py"), "--bootstrap", cluster.bootstrapServers, "--prefix", cluster.prefix,
                "--recipients", Self.recipients, "--acknowledged",
            ] + (open.map { ["--open", "\($0)"] } ?? []),
            input: Data(JSONLine.text(["requests": accepted, "events": []]).utf8)
        )
        let status = try await settled.ended(within: .seconds(180))
        guard status == 0, let numbers = JSONText.object(settled.standardOutput) else {
            throw ChildProcess.Failure(description: "\(settled.outputText)\(settled.errorText)")
        }
        func number(_ name: String) -> Int { numbers[name] as? Int ?? -1 }
        return Account(
            requests: number("requests"),
            closed: number("closed"),
            open: number("open"),
            repeats: number("repeatedIds")
        )
    }

    func end() async {
        await contents.withLock { $0.load }?.end()
    }
}
