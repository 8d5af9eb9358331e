/// The progress of a command, in one line that is redrawn on a terminal.
struct ProgressBar {
    private static let interval = Duration.milliseconds(100)

    private let total: Int?
    private let begin: ContinuousClock.Instant
    private let columns: () -> Int
    private let write: (String) -> Void
    private var lastDrawn: ContinuousClock.Instant?

    /// - Parameters:
    ///   - total: Nil if only the input determines it.
    ///   - columns: Width of the terminal.
    ///   - write: Writes text to the terminal.
    init(
        total: Int?,
        now: ContinuousClock.Instant,
        columns: @escaping () -> Int = { Terminal.columns },
        write: @escaping (String) -> Void = Terminal.drawOnError
    ) {
        self.total = total
        begin = now
        self.columns = columns
        self.write = write
    }

    /// Draws the line if it is due, ten times a second.
    mutating func show(_ summary: SendSummary, at now: ContinuousClock.Instant) {
        if let lastDrawn, now - lastDrawn < Self.interval { return }
        // Short commands need no bar.
        guard now - begin >= Self.interval else { return }
        lastDrawn = now
        write("\r" + Self.line(summary, total: total, elapsed: now - begin, columns: columns()) + "\u{1B}[K")
    }

    /// Erases the line before other output.
    mutating func clear() {
        guard lastDrawn != nil else { return }
        lastDrawn = nil
        write("\r\u{1B}[K")
    }

    /// `[=====>    ]  52%  5,200 of 10,000  2,600/s`, never wider than the terminal.
    static func line(_ summary: SendSummary, total: Int?, elapsed: Duration, columns: Int) -> String {
        let done = summary.acknowledged + summary.failed + summary.refused
        var text = SendSummary.grouped(done)
        if let total { text += " of \(SendSummary.grouped(total))" }
        text += "  \(SendSummary.grouped(SendSummary.rate(summary.acknowledged, in: elapsed)))/s"
        if summary.failed > 0 { text += "  failed \(SendSummary.grouped(summary.failed))" }
        if summary.refused > 0 { text += "  not sent \(SendSummary.grouped(summary.refused))" }
        if let total, total > 0 {
            let part = min(1, Double(done) / Double(total))
            let percent = "\(Int(part * 100))%"
            text = String(repeating: " ", count: max(0, 4 - percent.count)) + percent + "  " + text
            // Keep the last column free, or the line wraps.
            let width = min(40, columns - text.count - 4)
            if width >= 8 {
                let filled = Int(part * Double(width))
                let head = filled < width ? ">" : ""
                let bar = String(repeating: "=", count: filled) + head
                text = "[" + bar + String(repeating: " ", count: width - bar.count) + "] " + text
            }
        }
        return String(text.prefix(max(0, columns - 1)))
    }
}
