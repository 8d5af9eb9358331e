import NIOCore
import Testing

@testable import OutboundHTTP

/// The plan with connections and requests that are only names.
struct ConnectionPlanTests {
    private final class Connection: PlannedConnection {
        let origin: EgressURL
        let address: IPAddress
        let end: NIODeadline

        init(_ request: Request, end: NIODeadline = .distantFuture) {
            (origin, address, self.end) = (request.url, IPAddress(v4: 0x0102_0304), end)
        }
    }

    private final class Request: PlannedRequest {
        let url: EgressURL
        let addresses: [IPAddress]?
        let application: String
        var needsNewConnection = false

        init(_ host: String, _ application: String = "shop", at addresses: [IPAddress]? = nil) throws {
            url = try EgressPolicy().check("https://\(host)/")
            (self.application, self.addresses) = (application, addresses)
        }
    }

    private typealias Plan = ConnectionPlan<Connection, Request>

    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var plan = Plan(.init(connections: 10, perHost: 10, waiting: 100, isShared: true))

    /// What becomes of a request that begins: `open`, `send`, `wait`, `overloaded` or `closed`; an opened connection is there
    /// at once.
    private mutating func begin(_ request: Request, at now: NIODeadline = now) -> (
        what: String, connection: Connection?
    ) {
        switch plan.begin(request, at: now) {
        case .take(.open): return ("open", opened(request))
        case .take(.send(let connection)): return ("send", connection)
        case .wait: return ("wait", nil)
        case .overloaded: return ("overloaded", nil)
        case .closed: return ("closed", nil)
        }
    }

    private mutating func opened(_ request: Request) -> Connection {
        let connection = Connection(request)
        plan.opened(connection, for: request)
        return connection
    }

    /// Begins so many, and says how many got a connection.
    private mutating func take(_ count: Int, _ host: (Int) -> String, _ application: String = "shop") throws -> Int {
        var taken = 0
        for number in 0..<count where begin(try Request(host(number), application)).what == "open" { taken += 1 }
        return taken
    }

    @Test mutating func `a connection serves one request at a time, then the next of its origin`() throws {
        let first = begin(try Request("a.com"))
        #expect(first.what == "open")
        #expect(begin(try Request("a.com")).what == "open")
        let connection = try #require(first.connection)
        let isKept = plan.release(connection, at: Self.now)
        #expect(isKept)
        #expect(begin(try Request("b.com")).what == "open")
        let again = begin(try Request("a.com"))
        #expect(again.what == "send" && again.connection === connection)
    }

    @Test mutating func `an idle connection serves only requests whose addresses contain its own, and no repeat`()
        throws
    {
        let connection = try #require(try begin(Request("a.com")).connection)
        _ = plan.release(connection, at: Self.now)
        let other = try Request("a.com", at: [IPAddress(v4: 1)])
        #expect(begin(other).what == "open")
        let repeated = try Request("a.com")
        repeated.needsNewConnection = true
        #expect(begin(repeated).what == "open")
        #expect(begin(try Request("a.com", at: [connection.address])).what == "send")
    }

    @Test mutating func `a connection whose age has ended serves no further request`() throws {
        let request = try Request("a.com")
        guard case .take(.open) = plan.begin(request, at: Self.now) else { throw Unexpected() }
        let old = Connection(request, end: Self.now + .seconds(1))
        plan.opened(old, for: request)
        let isKept = plan.release(old, at: Self.now)
        #expect(isKept)
        let next = begin(try Request("a.com"), at: Self.now + .seconds(2))
        #expect(next.what == "open" && next.connection !== old)
        plan.remove(old)
        guard case .take(.open) = plan.begin(request, at: Self.now + .seconds(2)) else { throw Unexpected() }
        let used = Connection(request, end: Self.now + .seconds(3))
        plan.opened(used, for: request)
        let isKeptLater = plan.release(used, at: Self.now + .seconds(3))
        #expect(!isKeptLater)
    }

    private struct Unexpected: Error {}

    @Test mutating func `the bound for a host is kept`() throws {
        plan = Plan(.init(connections: 10, perHost: 2, waiting: 100, isShared: true))
        #expect(try take(4, { _ in "a.com" }) == 2)
        #expect(plan.waiting == 2)
    }

    @Test mutating func `names below one registered name leave slots for other hosts`() throws {
        let taken = try take(30, { "img\($0).slow.com" })
        #expect(taken == 7, "less than twice what is free")
        #expect(begin(try Request("other.com")).what == "open")
    }

    @Test mutating func `one application leaves slots for others, and alone it has most`() throws {
        let taken = try take(30, { "host\($0).com" }, "shop")
        #expect(taken == 8)
        #expect(begin(try Request("a.com", "bank")).what == "open")
        #expect(begin(try Request("b.com", "clinic")).what == "open")
    }

    @Test mutating func `a client with one server has no shares`() throws {
        plan = Plan(.init(connections: 10, perHost: 10, waiting: .max, isShared: false))
        #expect(try take(30, { _ in "a.com" }) == 10)
    }

    @Test mutating func `of those that wait the application with the fewest slots goes first, then the oldest`() throws
    {
        plan = Plan(.init(connections: 4, perHost: 4, waiting: 100, isShared: true))
        var connections: [Connection] = []
        for host in ["a.com", "b.com", "c.com", "d.com"] {
            if let connection = begin(try Request(host)).connection { connections.append(connection) }
        }
        #expect(connections.count == 4)
        let (shop, bank) = (try Request("e.com", "shop"), try Request("f.com", "bank"))
        #expect(begin(shop).what == "wait" && begin(bank).what == "wait")
        plan.remove(connections[0])
        let next = plan.next(at: Self.now)?.1
        #expect(next === bank)
        let none = plan.next(at: Self.now)?.1
        #expect(none === nil)
        plan.remove(connections[1])
        let last = plan.next(at: Self.now)?.1
        #expect(last === shop)
        #expect(plan.waiting == 0)
    }

    @Test mutating func `the queue is bounded, and one application does not fill it`() throws {
        plan = Plan(.init(connections: 1, perHost: 1, waiting: 10, isShared: true))
        _ = begin(try Request("a.com"))
        var ends: [String] = []
        for _ in 0..<12 { ends.append(begin(try Request("a.com")).what) }
        #expect(ends.count { $0 == "wait" } == 8 && ends.last == "overloaded")
        for application in ["bank", "clinic"] { #expect(begin(try Request("a.com", application)).what == "wait") }
        #expect(begin(try Request("a.com", "school")).what == "overloaded")
    }

    @Test mutating func `what waits can leave, and a close ends it`() throws {
        plan = Plan(.init(connections: 1, perHost: 1, waiting: 10, isShared: true))
        let connection = try #require(try begin(Request("a.com")).connection)
        let (first, second) = (try Request("a.com"), try Request("b.com"))
        #expect(begin(first).what == "wait" && begin(second).what == "wait")
        plan.leave(first)
        #expect(plan.waiting == 1)
        let ended = plan.close()
        #expect(ended.connections.map { $0 === connection } == [true] && ended.requests.map { $0 === second } == [true])
        #expect(begin(try Request("c.com")).what == "closed")
        let isKept = plan.release(connection, at: Self.now)
        #expect(!isKept)
    }

    @Test mutating func `every slot comes back, whatever happens to connections`() throws {
        var generator = SystemRandomNumberGenerator()
        var open: [Connection] = []
        var idle: [Connection] = []
        for _ in 0..<5000 {
            let request = try Request("h\(Int.random(in: 0..<5, using: &generator)).com", ["a", "b"].randomElement()!)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                switch plan.begin(request, at: Self.now) {
                case .take(.open(let instead)):
                    idle.removeAll { $0 === instead }
                    if Bool.random() { open.append(opened(request)) } else { plan.failed(for: request) }
                case .take(.send(let connection)):
                    idle.removeAll { $0 === connection }
                    open.append(connection)
                case .wait: plan.leave(request)
                case .overloaded, .closed: Issue.record("neither full nor closed")
                }
            case 1:
                guard let connection = open.popLast() else { continue }
                if plan.release(connection, at: Self.now) { idle.append(connection) }
            case 2: if let connection = open.popLast() { plan.remove(connection) }
            default: if let connection = idle.popLast() { plan.remove(connection) }
            }
            #expect(plan.count == open.count + idle.count && plan.count <= 10)
        }
        for connection in open + idle { plan.remove(connection) }
        #expect(plan.count == 0)
        #expect(try take(30, { "host\($0).com" }) == 8, "the shares are whole again")
    }
}
