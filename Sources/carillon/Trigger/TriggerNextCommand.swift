import ArgumentParser
import NotificationModel

/// `carillon trigger next`: the occurrences of a trigger, as the consumer service plans them.
struct TriggerNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next",
        abstract: "Show the next occurrences of a trigger.",
        discussion: """
            Each line has the instant; for a calendar trigger also the local time with its offset, the zone, and what \
            the policies for gaps, overlaps and missing days did. Jitter is not included. It does not connect to Kafka, \
            and uses the time zone data of this machine.

            Examples:

              carillon trigger next '{"type":"calendar","dateComponents":{"hour":2,"minute":30},
                "timeZone":"Europe/Berlin","repeats":true}' --after 2026-03-28T00:00:00Z
              carillon trigger next '{"type":"timeInterval","timeInterval":3600,"repeats":true}' --count 3
            """
    )

    @Argument(help: ArgumentHelp("The trigger in JSON, as in a request.", valueName: "json"))
    var trigger: String

    @Option(help: ArgumentHelp("Maximum number of occurrences.", valueName: "n"))
    var count = 5

    @Option(
        help: ArgumentHelp(
            "When the request was published: RFC 3339, or a time from now. Default: now.",
            valueName: "instant"
        )
    )
    var after: MomentArgument?

    @Option(
        help: ArgumentHelp(
            "Zone of triggers without one, as schedule.time-zone of the consumer service.",
            valueName: "name"
        )
    )
    var timeZone = "UTC"

    func validate() throws {
        guard (1...10_000).contains(count) else { throw ValidationError("--count takes 1 to 10000") }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon trigger next") {
            let zones = try zones()
            for line in try lines(from: after?.after(SystemClock.now()) ?? SystemClock.now(), zones) {
                Terminal.write(line + "\n")
            }
        }
    }

    private func zones() throws(CommandFailure) -> TimeZones {
        do throws(TimeZoneError) {
            return try TimeZones.system(standard: timeZone)
        } catch {
            let isUnknown = if case .unknown = error { true } else { false }
            throw isUnknown
                ? CommandFailure("--time-zone: \(error)", status: ExitStatus.usage)
                : CommandFailure("\(error); install the package tzdata", status: ExitStatus.noInput)
        }
    }

    /// One line for each occurrence.
    func lines(from anchor: Timestamp, _ zones: TimeZones) throws(CommandFailure) -> [String] {
        let schedule: Schedule?
        do throws(ModelError) {
            schedule = try Schedule(NotificationTrigger(json: Array(trigger.utf8)), anchor: anchor, zones: zones)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.badData)
        }
        guard let schedule else { return ["at once"] }
        var lines: [String] = []
        var occurrence = Optional(schedule.first)
        while lines.count < count, let instant = occurrence {
            if case .calendar(let calendar) = schedule, let explained = calendar.explain(instant) {
                lines.append("\(explained)")
            } else {
                lines.append(instant.rfc3339)
            }
            occurrence = schedule.next(after: instant)
        }
        return lines
    }
}
