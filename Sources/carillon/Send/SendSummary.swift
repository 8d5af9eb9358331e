/// The result of a command that sends.
struct SendSummary: Sendable, Hashable {
    /// Records handed to the client.
    var sent = 0
    var acknowledged = 0
    /// Records refused by the broker, or not acknowledged in time.
    var failed = 0
    /// Invalid messages, of which nothing was sent.
    var refused = 0
    /// Messages that were not reached, as far as their number is known.
    var unsent = 0
    /// Whether the input was not read to its end.
    var hasRest = false
    /// Whether reading the input failed.
    var hasInputFailed = false
    /// Time from the first record to the end.
    var elapsed = Duration.zero

    /// `sent 1,000, acknowledged 998, failed 2, not sent 17 in 0.41 s (2,434/s)`
    var text: String {
        var text =
            "sent \(Self.grouped(sent)), acknowledged \(Self.grouped(acknowledged)), failed \(Self.grouped(failed))"
        if refused + unsent > 0 { text += ", not sent \(Self.grouped(refused + unsent))" }
        let seconds = elapsed / .seconds(1)
        let hundredths = Int((min(seconds, 1e9) * 100).rounded())
        let fraction = "\(hundredths % 100)"
        text += " in \(Self.grouped(hundredths / 100)).\(fraction.count < 2 ? "0" : "")\(fraction) s"
        if acknowledged > 1, seconds > 0 { text += " (\(Self.grouped(Self.rate(acknowledged, in: elapsed)))/s)" }
        if hasRest { text += "; the rest of the input was not read" }
        return text
    }

    /// A signal takes precedence over a failure, a failure over an input error, that over bad data.
    func status(signal: Int32?) -> Int32 {
        if let signal { return ExitStatus.ended(by: signal) }
        if failed > 0 { return ExitStatus.failed }
        if hasInputFailed { return ExitStatus.noInput }
        return refused > 0 ? ExitStatus.badData : 0
    }

    static func rate(_ count: Int, in time: Duration) -> Int {
        let seconds = time / .seconds(1)
        return seconds > 0 ? Int(min(Double(count) / seconds, 1e12).rounded()) : 0
    }

    /// `1234567` as `1,234,567`.
    static func grouped(_ number: Int) -> String {
        let digits = "\(number.magnitude)"
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
