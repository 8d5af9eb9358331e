import NotificationConsumer
import NotificationModel

/// What people see: of each key the last thing that reached its device, and every send that was asked for.
final class SimulatedDevices {
    /// A send as it was begun.
    struct Record {
        var send: ChannelSend
        /// Which process and lane asked.
        var sender: String
        /// By the sender's wall clock, and the latest that it has shown.
        var wall: Timestamp
        var latest: Timestamp
        /// Microseconds of true time.
        var begun: Int64
        /// When it reached the device; nil while it has not.
        var arrived: Int64?
        /// When the sender was told; nil while it has not been.
        var told: Int64?
        /// Nothing more is to come for the sender: it knows, or it ended.
        var isOver = false
    }

    private(set) var records: [Record] = []
    /// Called with the number of each send that begins.
    var onBegin: (Int) -> Void = { _ in }
    /// Sends of which somebody still waits to hear.
    private(set) var openCount = 0
    /// When something of a key was last told, in microseconds: what is due goes after what is under way.
    private(set) var toldAt: [NotificationKey: Int64] = [:]
    /// What each key shows.
    private(set) var shown: [NotificationKey: SendID] = [:]

    func begin(_ send: ChannelSend, by sender: String, _ clock: MachineClock, at now: Int64) -> Int {
        records.append(Record(send: send, sender: sender, wall: clock.wall, latest: clock.latest, begun: now))
        openCount += 1
        onBegin(records.count - 1)
        return records.count - 1
    }

    func arrive(_ number: Int, at now: Int64) {
        records[number].arrived = now
        let send = records[number].send
        switch send.kind {
        case .deliver: shown[send.key] = send.id
        case .recall: shown[send.key] = nil
        }
    }

    /// The sender knows what became of it, or has given it up.
    func tell(_ number: Int, at now: Int64) {
        guard !records[number].isOver else { return }
        records[number].told = now
        toldAt[records[number].send.key] = now
        end(number)
    }

    func end(_ number: Int) {
        if !records[number].isOver { openCount -= 1 }
        records[number].isOver = true
    }
}
