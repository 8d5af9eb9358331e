import ArgumentParser
import NotificationModel
import ServiceSupport

/// A time span on the command line: `90`, `1.5` (seconds), or with a unit: `250ms`, `15m`, `7d`.
struct SpanArgument: ExpressibleByArgument, Hashable, Sendable {
    var duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let hasUnit = argument.last?.isLetter ?? false
        guard let duration = DurationText.parse(hasUnit ? argument : argument + "s") else { return nil }
        self.init(duration)
    }

    var defaultValueDescription: String { DurationText.write(duration) }

    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { duration.milliseconds }

    /// Seconds, the unit of requests.
    var seconds: Double { Double(milliseconds) / 1_000 }
}

/// An instant on the command line: RFC 3339, or a time span from now.
enum MomentArgument: ExpressibleByArgument, Hashable, Sendable {
    case instant(Timestamp)
    case span(SpanArgument)

    init?(argument: String) {
        if let span = SpanArgument(argument: argument) {
            self = .span(span)
        } else if let instant = Timestamp(rfc3339: argument) {
            self = .instant(instant)
        } else {
            return nil
        }
    }

    /// A span is added to now.
    func after(_ now: Timestamp) -> Timestamp {
        switch self {
        case .instant(let instant): instant
        case .span(let span): now.adding(milliseconds: span.milliseconds)
        }
    }

    /// A span is subtracted from now.
    func before(_ now: Timestamp) -> Timestamp {
        switch self {
        case .instant(let instant): instant
        case .span(let span): now.adding(milliseconds: -span.milliseconds)
        }
    }
}
