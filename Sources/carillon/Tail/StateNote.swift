import Kafka
import NotificationModel
import NotificationState

/// A record of `state` in words.
enum StateNote {
    /// Nil for a record of another topic, and for one that cannot be read.
    static func pieces(_ record: KafkaConsumerRecord) -> [String]? {
        guard let value = record.value, record.header("ce_type") == nil else { return nil }
        if record.key == StateMarker.key { return (try? StateMarker(json: value)).map(pieces) }
        if let key = record.key.flatMap({ try? NotificationKey(encoded: $0) }), key.isWholeRecipient {
            return (try? RecipientRecord(json: value)).map(pieces)
        }
        return (try? StateEntry(json: value, zones: try? TimeZoneDatabase.system.get())).map(pieces)
    }

    /// The progress of a partition.
    private static func pieces(_ marker: StateMarker) -> [String] {
        var pieces = offsets(marker.offsets, "next of")
        pieces += offsets(marker.replay, "replay from")
        pieces += offsets(marker.replayEnd, "replay up to")
        pieces += offsets(marker.lives, "times recreated:")
        pieces.append("written \(moment(marker.wallTime))")
        if let fired = marker.firedThrough { pieces.append("fired through \(moment(fired))") }
        pieces.append("\(marker.partitions) partitions, form \(marker.form)")
        return pieces
    }

    private static func offsets(_ offsets: [String: Int64], _ what: String) -> [String] {
        offsets.sorted { $0.key < $1.key }.map { "\(what) \($0.key) \($0.value)" }
    }

    /// The entry of one identifier.
    private static func pieces(_ entry: StateEntry) -> [String] {
        var pieces: [String] = []
        if let pending = entry.pending {
            pieces.append("pending\(title(pending.content)), \(wait(of: pending))")
            if let expiration = pending.expiration { pieces.append("expires \(moment(expiration))") }
            if entry.isInDoubt(pending.showing) { pieces.append("in doubt") }
            pieces.append("request \(short(pending.requestID))")
        }
        if let handover = entry.handover {
            pieces.append("sending request \(short(handover.showing.requestID))")
            if let start = handover.start { pieces.append("begins \(moment(start))") }
        }
        for operation in entry.screen?.operations ?? [] {
            let what = operation.goal == .remove ? "removing" : operation.isQuiet ? "showing again" : "showing"
            switch operation.phase {
            case .inFlight(let since): pieces.append("\(what) since \(moment(since))")
            case .waiting(let until): pieces.append("\(what) again \(moment(until))")
            }
            pieces.append("attempt \(operation.attempt)")
        }
        if let delivered = entry.delivered {
            pieces.append("delivered \(moment(delivered.at)), request \(short(delivered.requestID))")
        }
        if let version = entry.version { pieces.append("version \(version.number)") }
        if !entry.known.isEmpty {
            pieces.append("\(entry.known.count) closed id\(entry.known.count == 1 ? "" : "s") known")
        }
        pieces.append("touched \(moment(entry.touched))")
        return pieces
    }

    /// What is kept of a recipient.
    private static func pieces(_ record: RecipientRecord) -> [String] {
        let count = record.removals.count
        var pieces = ["\(count) removal\(count == 1 ? "" : "s") of everything known"]
        for region in record.regions {
            let sides = zip(record.devices, region.sides).map { "\($0.device) \($1.map { "\($0)" } ?? "unknown")" }
            pieces.append("region of \(region.identifier): \(sides.isEmpty ? "no fix" : sides.joined(separator: ", "))")
        }
        // One with regions has no instant at which it was touched.
        if record.regions.isEmpty { pieces.append("touched \(moment(record.touched))") }
        return pieces
    }

    private static func wait(of pending: StateEntry.Pending) -> String {
        let due = pending.due.map { "due \(moment($0))" } ?? "without a time"
        switch pending.timer {
        case .held: return "held, \(due)"
        case .turn: return "after the current send"
        case .digest: return "for a digest, \(due)"
        case .scheduled(.interval(let schedule), _):
            guard schedule.repeats else { return due }
            return "\(due), every \(Double(schedule.interval) / 1_000) s"
        case .scheduled(.calendar(let schedule), _):
            let zone = schedule.floats ? "\(schedule.zone.name) of the recipient" : schedule.zone.name
            return "\(due), calendar \(zone)\(schedule.repeats ? ", repeats" : "")"
        case .region(let wait):
            let region = wait.trigger.region
            let place = "\(region.radius) m around \(region.latitude), \(region.longitude)"
            let repeats = wait.trigger.repeats ? ", repeats" : ""
            return "\(wait.isCrossed ? "crossed" : "waits for") a region, \(place)\(repeats)"
        }
    }

    private static func title(_ content: ArraySlice<UInt8>) -> String {
        guard let title = (try? JSONValue.parse(content))?["title"]?.stringValue else { return "" }
        return " \"\(title)\""
    }

    private static func short(_ id: RequestID) -> Substring { id.description.prefix(8) }

    /// Entries can wait for days, so the text includes the day.
    private static func moment(_ instant: Timestamp) -> String {
        instant.rfc3339.replacing("T", with: " ").replacing("Z", with: "")
    }
}
