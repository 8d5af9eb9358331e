import NotificationModel

/// One thing that `carillon check` looked at.
struct CheckStep: Sendable, Hashable {
    /// In this order; each needs that the one before found no error.
    enum Phase: String, CaseIterable, Sendable {
        /// Settings and the files that they name; nothing outside of this machine.
        case settings
        /// Topics and their partitions.
        case topology
        /// Directories, brokers and servers.
        case environment
    }

    enum Result: Sendable, Hashable {
        case passed(String)
        /// What works, and may not be meant.
        case warning(String)
        /// - Parameter status: The exit status that it leads to.
        case failed(String, status: Int32)
        /// Not looked at, with the reason.
        case skipped(String)
    }

    var phase: Phase
    var what: String
    var result: Result

    var failure: Int32? {
        if case .failed(_, let status) = result { status } else { nil }
    }

    private var outcome: (name: String, detail: String) {
        switch result {
        case .passed(let detail): ("ok", detail)
        case .warning(let detail): ("warning", detail)
        case .failed(let detail, _): ("failed", detail)
        case .skipped(let detail): ("skipped", detail)
        }
    }

    /// A line; further lines of the detail are indented.
    var text: String {
        let (name, detail) = outcome
        let lines = detail.split(separator: "\n").map { RecordText.safe(String($0)) }
        let head = "  \(name)\(String(repeating: " ", count: max(1, 9 - name.count)))\(RecordText.safe(what))"
        guard lines.count > 1 else { return head + (lines.first.map { ": \($0)" } ?? "") + "\n" }
        return head + ":\n" + lines.map { "             \($0)\n" }.joined()
    }

    func json(of service: ServiceChoice) -> [UInt8] {
        let (name, detail) = outcome
        return JSONValue.object([
            .init("service", .string(service.rawValue)), .init("phase", .string(phase.rawValue)),
            .init("what", .string(what)), .init("result", .string(name)), .init("detail", .string(detail)),
        ]).json + [0x0A]
    }
}

/// The exit status of all steps: wrong settings before servers that did not answer, and these before what was refused.
struct CheckStatus {
    private(set) var status: Int32 = 0

    mutating func note(_ step: CheckStep) {
        guard let failure = step.failure, Self.rank(failure) > Self.rank(status) else { return }
        status = failure
    }

    private static func rank(_ status: Int32) -> Int {
        switch status {
        case 0: 0
        case ExitStatus.settings: 3
        case ExitStatus.unavailable: 2
        default: 1
        }
    }
}
