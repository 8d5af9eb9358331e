import NIOHPACK
import NotificationModel
import PushSimulation
import Synchronization

/// What the connections share: the state, and the list of them.
final class FCMSimulatorCore: Sendable {
    let state: Mutex<FCMSimulatorState>
    let now: @Sendable () -> Timestamp
    /// The project of devices that name none.
    let project: String
    let connections = ServerConnections()

    init(_ state: FCMSimulatorState, project: String, now: @escaping @Sendable () -> Timestamp) {
        self.state = Mutex(state)
        (self.project, self.now) = (project, now)
    }
}

/// What answers the requests of a connection of a sender.
final class FCMConnection: SimulatedConnection {
    private let core: FCMSimulatorCore
    let streams: Int

    init(_ core: FCMSimulatorCore, streams: Int) {
        (self.core, self.streams) = (core, streams)
        core.state.withLock { $0.statistics.connections += 1 }
    }

    func respond(to headers: HPACKHeaders, body: UnsafeRawBufferPointer) -> ServerOutcome {
        let now = core.now()
        return core.state.withLock { $0.respond(to: headers, body: body, at: now) }
    }

    func isGoingAway() { core.state.withLock { $0.statistics.goAways += 1 } }
}
