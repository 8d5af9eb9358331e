import NotificationModel
import NotificationState

// Added by the commit 49d030c: removals of all of a recipient's notifications, lives of a topic, the end of a replay.
extension StateSamples {
    static func laterEntry() -> (name: String, entry: StateEntry) {
        ("life", entry { $0.applied[.requests].life = 1 })
    }

    static func laterRecipient() throws -> RecipientRecord {
        var record = RecipientRecord()
        (record.touched, record.applied[.requests].offset) = (now, 41)
        record.removals = [
            .init(id: uuid(1), offset: -1, closed: now),
            .init(id: try RequestID(text: "r-1"), offset: .max, closed: later),
        ]
        return record
    }

    /// Its line has removals, too, which only recipients' records have.
    static func laterEverything() throws -> (name: String, entry: StateEntry) {
        (
            "everything",
            try entry {
                $0.applied[.requests].life = .max
                $0.version = .init(number: 7, by: uuid(1))
                $0.pending = pending(.held, trace)
                send(.inFlight(since: now), in: &$0)
                $0.delivered = .init(requestID: uuid(5), at: now)
                $0.known = known([uuid(6), try RequestID(text: "r-1")])
            }
        )
    }

    static func laterMarkers() -> [(name: String, marker: StateMarker)] {
        let requests = "carillon.requests"
        var again = marker([requests: 42], replay: [requests: 7])
        again.replayEnd = [requests: 30]
        var second = marker([requests: 42])
        second.lives = [requests: 1]
        var all = marker([requests: 42, "b": 1], firedThrough: now, lineage: "l", replay: [requests: 7, "b": 0])
        (all.replayEnd, all.lives) = ([requests: 30, "b": 1], [requests: .max, "b": 2])
        return [("the end of a replay", again), ("a second life", second), ("everything", all)]
    }
}
