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

            Without a trigger it reads triggers from standard input, one a line, and writes a line of JSON for each: the \
            array of --json. For a trigger that is invalid or never fires that is an empty array, standard error has the \
            number of the line and the reason, and the status at the end is 65. The array of a location trigger is empty \
            too: it has no times.

            Examples:

              carillon trigger next --after 2026-03-28T00:00:00Z \\
                '{"type":"calendar","timeZone":"Europe/Berlin","repeats":true,
                  "dateComponents":{"hour":2,"minute":30}}'
              carillon trigger next --count 3 \\
                '{"type":"timeInterval","timeInterval":3600,"repeats":true}'
              carillon trigger next --json --count 1 < triggers.jsonl
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The trigger in JSON, as in a request; none, or -, for lines of standard input.",
            valueName: "json"
        )
    )
    var trigger: String?

    @Flag(help: "Write an array of instants in UTC, RFC 3339.")
    var json = false

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
            let anchor = after?.after(SystemClock.now()) ?? SystemClock.now()
            if let trigger, trigger != "-" {
                for line in try lines(of: trigger, from: anchor, zones) { Terminal.write(line + "\n") }
            } else {
                try answerLines(from: anchor, zones)
            }
        }
    }

    /// Standard input has one trigger a line.
    private func answerLines(from anchor: Timestamp, _ zones: TimeZones) throws(CommandFailure) {
        var (number, failures) = (0, 0)
        while let line = readLine() {
            number += 1
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(CommandFailure) {
                Terminal.write(try array(of: line, from: anchor, zones) + "\n")
            } catch {
                failures += 1
                Terminal.writeError("line \(number): \(error)\n")
                Terminal.write("[]\n")
            }
        }
        guard failures == 0 else {
            throw CommandFailure("triggers that are invalid or never fire: \(failures)", status: ExitStatus.badData)
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

    /// One line for each occurrence, or one for their array.
    func lines(of trigger: String, from anchor: Timestamp, _ zones: TimeZones) throws(CommandFailure) -> [String] {
        guard !json else { return [try array(of: trigger, from: anchor, zones)] }
        let (trigger, schedule) = try read(trigger, from: anchor, zones)
        if case .location(let trigger) = trigger { return [Self.line(of: trigger)] }
        guard let schedule else { return ["at once"] }
        return occurrences(of: schedule).map { instant in
            if case .calendar(let calendar) = schedule, let explained = calendar.explain(instant) {
                "\(explained)"
            } else {
                instant.rfc3339
            }
        }
    }

    /// The occurrences as a JSON array. A trigger that is due at once has one, a location trigger none.
    private func array(of trigger: String, from anchor: Timestamp, _ zones: TimeZones) throws(CommandFailure) -> String
    {
        let (trigger, schedule) = try read(trigger, from: anchor, zones)
        let isOfRegion = if case .location = trigger { true } else { false }
        let instants = schedule.map(occurrences) ?? (isOfRegion ? [] : [anchor])
        return "[\(instants.map { "\"\($0.rfc3339)\"" }.joined(separator: ","))]"
    }

    private func read(
        _ text: String,
        from anchor: Timestamp,
        _ zones: TimeZones
    ) throws(CommandFailure) -> (NotificationTrigger, Schedule?) {
        do throws(ModelError) {
            let trigger = try NotificationTrigger(json: Array(text.utf8))
            return (trigger, try Schedule(trigger, anchor: anchor, zones: zones))
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.badData)
        }
    }

    private func occurrences(of schedule: Schedule) -> [Timestamp] {
        var (instants, next) = ([] as [Timestamp], Optional(schedule.first))
        while instants.count < count, let instant = next {
            instants.append(instant)
            next = schedule.next(after: instant)
        }
        return instants
    }

    /// A location trigger has no times.
    private static func line(of trigger: LocationTrigger) -> String {
        let edges = (trigger.notifyOnEntry ? ["enters"] : []) + (trigger.notifyOnExit ? ["leaves"] : [])
        return "\(trigger.repeats ? "each time" : "when") a device \(edges.joined(separator: " or ")) the region"
    }
}
