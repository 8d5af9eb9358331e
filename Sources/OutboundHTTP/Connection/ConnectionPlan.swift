import DequeModule
import NIOCore

/// What the plan knows of a connection.
protocol PlannedConnection: AnyObject {
    var origin: EgressURL { get }
    var address: IPAddress { get }
    /// When it serves no further request.
    var end: NIODeadline { get }
}

/// What the plan knows of a request.
protocol PlannedRequest: AnyObject {
    var url: EgressURL { get }
    /// Of which the connection must have one; nil: any.
    var addresses: [IPAddress]? { get }
    var application: String { get }
    var needsNewConnection: Bool { get }
}

/// Decides which request goes over which connection: a value without sockets, clocks and locks.
///
/// Connections are bounded overall and for each host, and shared fairly: an application, and all names below one registered
/// name, may take a further slot only while they have less than a multiple of what is free. So what one of them can take
/// always leaves some for others, and a single one can have most. Of those that wait, the application with the fewest slots
/// goes first.
struct ConnectionPlan<Connection: PlannedConnection, Request: PlannedRequest> {
    struct Limits: Sendable {
        /// Connections, opening and idle ones included.
        var connections: Int
        var perHost: Int
        /// Requests that wait for a connection.
        var waiting: Int
        /// Whether applications and registered names have shares; a client with a single server has none.
        var isShared: Bool
    }

    enum Step {
        case send(Connection)
        /// - Parameter instead: an idle connection that makes room, to be closed.
        case open(instead: Connection?)
    }

    enum Beginning {
        case take(Step)
        case wait
        /// The queue is full: of all, or for the application.
        case overloaded
        case closed
    }

    /// One queue of those that wait.
    private struct Line: Hashable {
        var application: String
        var host: String

        init(_ request: Request) { (application, host) = (request.application, request.url.host) }
    }

    private struct Waiting {
        var request: Request
        var number: UInt64
    }

    /// An application may have so many times the free slots, one registered name so many.
    private static var applicationShare: Int { 4 }
    private static var siteShare: Int { 2 }

    let limits: Limits
    private var all: [ObjectIdentifier: Connection] = [:]
    /// The last used one last.
    private var idle: [Connection] = []
    private var opening = 0
    /// Opening and idle ones included, by host.
    private var hosts = Tally()
    /// With a request, and opening ones.
    private var applications = Tally()
    private var sites = Tally()
    /// Whose request a connection has.
    private var users: [ObjectIdentifier: Line] = [:]
    private var lines: [Line: Deque<Waiting>] = [:]
    private var waitingFor = Tally()
    private var lastNumber: UInt64 = 0
    private(set) var waiting = 0
    private(set) var opened = 0
    private(set) var isClosed = false

    init(_ limits: Limits) { self.limits = limits }

    /// Open connections, and those that are being opened.
    var count: Int { all.count + opening }
    /// Connections with a request, and those that are being opened.
    private var used: Int { count - idle.count }

    // MARK: - Requests

    mutating func begin(_ request: Request, at now: NIODeadline) -> Beginning {
        if isClosed { return .closed }
        if let step = step(for: request, at: now) { return .take(step) }
        let own = waitingFor[request.application]
        guard waiting < limits.waiting,
            !limits.isShared || own == 0 || own < (limits.waiting - waiting) * Self.applicationShare
        else { return .overloaded }
        lastNumber += 1
        lines[Line(request), default: []].append(Waiting(request: request, number: lastNumber))
        waiting += 1
        waitingFor.add(request.application)
        return .wait
    }

    /// The next of those that wait that can begin now.
    mutating func next(at now: NIODeadline) -> (Step, Request)? {
        guard waiting > 0, !isClosed else { return nil }
        let order = lines.compactMap { line, queue in
            queue.first.map { (line, rank: (applications[line.application], hosts[line.host], $0.number), $0.request) }
        }
        .sorted { $0.rank < $1.rank }
        for (line, _, request) in order {
            guard let step = step(for: request, at: now) else { continue }
            lines[line]?.removeFirst()
            left(line)
            return (step, request)
        }
        return nil
    }

    /// The request does not wait any more.
    mutating func leave(_ request: Request) {
        let line = Line(request)
        guard let index = lines[line]?.firstIndex(where: { $0.request === request }) else { return }
        lines[line]?.remove(at: index)
        left(line)
    }

    private mutating func left(_ line: Line) {
        waiting -= 1
        waitingFor.remove(line.application)
        if lines[line]?.isEmpty == true { lines[line] = nil }
    }

    /// - Returns: nil when it must wait.
    private mutating func step(for request: Request, at now: NIODeadline) -> Step? {
        let line = Line(request)
        guard hasShare(line) else { return nil }
        if !request.needsNewConnection,
            let index = idle.lastIndex(where: {
                $0.origin.isSame(as: request.url) && $0.end > now
                    && request.addresses?.contains($0.address) != false
            })
        {
            let connection = idle.remove(at: index)
            use(line)
            users[ObjectIdentifier(connection)] = line
            return .send(connection)
        }
        var instead: Connection?
        if hosts[line.host] >= limits.perHost {
            // Its own idle connections do not fit.
            instead = idle.first { $0.origin.host == line.host }
            if instead == nil { return nil }
        } else if count >= limits.connections {
            instead = idle.first
            if instead == nil { return nil }
        }
        if let instead { remove(instead) }
        opening += 1
        opened += 1
        hosts.add(line.host)
        use(line)
        return .open(instead: instead)
    }

    private func hasShare(_ line: Line) -> Bool {
        guard limits.isShared else { return true }
        let free = limits.connections - used
        let (own, site) = (applications[line.application], sites[RegisteredName.of(line.host)])
        return free > 0 && (own == 0 || own < free * Self.applicationShare)
            && (site == 0 || site < free * Self.siteShare)
    }

    private mutating func use(_ line: Line) {
        guard limits.isShared else { return }
        applications.add(line.application)
        sites.add(RegisteredName.of(line.host))
    }

    private mutating func unuse(_ line: Line) {
        guard limits.isShared else { return }
        applications.remove(line.application)
        sites.remove(RegisteredName.of(line.host))
    }

    // MARK: - Connections

    /// A connection was opened for the request, which has it now.
    mutating func opened(_ connection: Connection, for request: Request) {
        opening -= 1
        all[ObjectIdentifier(connection)] = connection
        users[ObjectIdentifier(connection)] = Line(request)
    }

    /// No connection was opened for the request.
    mutating func failed(for request: Request) {
        let line = Line(request)
        opening -= 1
        hosts.remove(line.host)
        unuse(line)
    }

    /// The connection has no request any more.
    ///
    /// - Returns: false when it is to be closed.
    mutating func release(_ connection: Connection, at now: NIODeadline) -> Bool {
        if let line = users.removeValue(forKey: ObjectIdentifier(connection)) { unuse(line) }
        // One that was removed already is closed.
        guard !isClosed, connection.end > now, all[ObjectIdentifier(connection)] != nil else { return false }
        idle.append(connection)
        return true
    }

    /// The connection is closed.
    ///
    /// - Returns: false when it was removed before.
    @discardableResult
    mutating func remove(_ connection: Connection) -> Bool {
        guard all.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return false }
        if let line = users.removeValue(forKey: ObjectIdentifier(connection)) { unuse(line) }
        idle.removeAll { $0 === connection }
        hosts.remove(connection.origin.host)
        return true
    }

    /// Nothing begins any more.
    ///
    /// - Returns: What is to be closed, and what does not get a connection.
    mutating func close() -> (connections: [Connection], requests: [Request]) {
        isClosed = true
        let requests = lines.values.flatMap { $0 }.sorted { $0.number < $1.number }.map(\.request)
        (idle, lines, waiting, waitingFor) = ([], [:], 0, Tally())
        return (Array(all.values), requests)
    }
}

/// Counts by name; a name without a count takes no space.
private struct Tally {
    private var counts: [String: Int] = [:]

    subscript(name: String) -> Int { counts[name] ?? 0 }

    mutating func add(_ name: String) { counts[name, default: 0] += 1 }

    mutating func remove(_ name: String) {
        let left = self[name] - 1
        counts[name] = left > 0 ? left : nil
    }
}

extension EgressURL {
    /// Whether one connection may serve both.
    func isSame(as other: EgressURL) -> Bool {
        usesTLS == other.usesTLS && port == other.port && host == other.host
    }
}

extension OutboundConnection: PlannedConnection {}
extension OutboundExchange: PlannedRequest {}
