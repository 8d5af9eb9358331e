import NIOCore
import Testing

@testable import OutboundHTTP

/// The plan of a pool with requests that are only numbers, and what it has wanted so far.
struct PlannedPool {
    typealias Plan = HTTP2PoolPlan<Int>

    /// Where a request was sent last.
    struct Sent: Hashable {
        var connection: HTTP2ConnectionID
        var stream: Int
    }

    var plan: Plan
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var addresses = [IPAddress(v4: 1)]
    /// What a server says at once; nil: connections stay without SETTINGS.
    var maxStreams: Int? = 100
    /// Whether connections to the address open at once.
    var opens: (IPAddress) -> Bool = { _ in true }

    private(set) var numbers: [Int: RequestNumber] = [:]
    private(set) var sent: [Int: Sent] = [:]
    /// How often each was sent.
    private(set) var sends: [Int: Int] = [:]
    /// In the order of sending.
    private(set) var order: [Int] = []
    private(set) var answers: [Int: Int] = [:]
    private(set) var failures: [Int: OutboundFailure] = [:]
    private(set) var resets: [Sent] = []
    private(set) var pings: [HTTP2ConnectionID] = []
    private(set) var closed: [HTTP2ConnectionID] = []
    private(set) var connecting: [HTTP2ConnectionID: IPAddress] = [:]
    /// When connections began, and to which address.
    private(set) var begun: [(id: HTTP2ConnectionID, address: IPAddress, at: NIODeadline)] = []
    private(set) var lookUps: [NIODeadline] = []
    private(set) var events: [HTTP2PoolEvent] = []
    private var last = 0

    init(
        _ settings: HTTP2Pool.Settings = .init(),
        sharing rate: HTTP2OpenRate? = nil,
        random: @escaping () -> Double = { 0 }
    ) {
        plan = Plan(settings, host: "push.example.com", sharing: rate, at: now, random: random)
    }

    static func settings(_ change: (inout HTTP2Pool.Settings) -> Void) -> HTTP2Pool.Settings {
        var settings = HTTP2Pool.Settings()
        change(&settings)
        return settings
    }

    // MARK: - What happens

    /// - Returns: The request.
    @discardableResult
    mutating func submit(
        _ priority: HTTP2Request.Priority = .normal,
        size: Int = 0,
        within time: TimeAmount = .seconds(5)
    ) -> Int {
        last += 1
        numbers[last] = plan.submit(last, size: size, priority, by: now + time)
        perform()
        return last
    }

    mutating func submit(
        _ count: Int,
        _ priority: HTTP2Request.Priority = .normal,
        size: Int = 0,
        within time: TimeAmount = .seconds(5)
    ) -> [Int] {
        (0..<count).map { _ in submit(priority, size: size, within: time) }
    }

    mutating func proceed() {
        plan.proceed(at: now)
        perform()
    }

    /// Lets time pass, and calls the plan whenever it wants to be called.
    mutating func pass(_ time: TimeAmount) {
        let end = now + time
        proceed()
        var calls = 0
        while let next = plan.nextTime(at: now), next <= end {
            #expect(next > now, "the plan wants to be called without end")
            guard next > now, calls < 100_000 else { break }
            now = next
            calls += 1
            proceed()
        }
        now = end
        proceed()
    }

    mutating func answer(_ request: Int, _ status: Int = 200) {
        guard let number = numbers[request] else { return }
        if let ended = plan.answered(number, status: status) {
            #expect(answers[ended] == nil && failures[ended] == nil)
            answers[ended] = status
        }
        if let connection = sent[request]?.connection { plan.heard(connection, at: now) }
        proceed()
    }

    mutating func answer(_ requests: [Int], _ status: Int = 200) { for request in requests { answer(request, status) } }

    mutating func refuse(_ request: Int) {
        if let number = numbers[request] { plan.refused(number, at: now) }
    }

    mutating func cancel(_ request: Int) {
        if let number = numbers[request] { plan.cancel(number) }
        proceed()
    }

    mutating func goAway(_ connection: HTTP2ConnectionID, last: Int, code: Int = 0) {
        plan.goneAway(connection, .init(lastStream: last, code: code, debugData: []), at: now)
        proceed()
    }

    mutating func settle(_ connection: HTTP2ConnectionID, _ maxStreams: Int?) {
        plan.settled(connection, maxStreams: maxStreams, at: now)
        proceed()
    }

    mutating func lose(_ connection: HTTP2ConnectionID) {
        plan.closed(connection, OutboundFailure(.disconnected, "lost"), at: now)
        proceed()
    }

    /// A pool with one connection that has had a success.
    mutating func warmUp() { answer(submit()) }

    // MARK: - What it wants

    var ids: [HTTP2ConnectionID] { plan.connections.map(\.id) }

    func connection(_ id: HTTP2ConnectionID) -> PlannedHTTP2Connection<Int>? {
        plan.connections.first { $0.id == id }
    }

    /// Requests that are sent and have no result.
    var inFlight: [Int] {
        sent.keys.filter { answers[$0] == nil && failures[$0] == nil && isSent($0) }.sorted()
    }

    /// Whether a connection has the request now.
    func isSent(_ request: Int) -> Bool {
        guard let number = numbers[request], let slot = plan.requests.slot(of: number) else { return false }
        return plan.requests[slot].connection != nil
    }

    mutating func perform() {
        plan.proceed(at: now)
        while !plan.actions.isEmpty {
            let actions = plan.actions
            plan.actions = []
            for action in actions { perform(action) }
            plan.proceed(at: now)
        }
    }

    private mutating func perform(_ action: Plan.Action) {
        switch action {
        case .resolve(let id, _):
            lookUps.append(now)
            if addresses.isEmpty {
                plan.closed(id, OutboundFailure(.unresolved, "no address"), at: now)
            } else {
                plan.resolved(id, addresses, at: now)
            }
        case .connect(let id, let address, _):
            begun.append((id, address, now))
            guard opens(address) else {
                return plan.closed(id, OutboundFailure(.notConnected, "refused"), at: now)
            }
            connecting[id] = address
            plan.opened(id, at: now)
            if let maxStreams { plan.settled(id, maxStreams: maxStreams, at: now) }
        case .send(let request, let number, let id, let stream):
            #expect(numbers[request] == nil || numbers[request] == number)
            sent[request] = Sent(connection: id, stream: stream)
            sends[request, default: 0] += 1
            order.append(request)
        case .reset(let id, let stream): resets.append(Sent(connection: id, stream: stream))
        case .ping(let id): pings.append(id)
        case .close(let id): closed.append(id)
        case .end(let request, let failure):
            #expect(answers[request] == nil && failures[request] == nil, "\(request) has a second result")
            failures[request] = failure
        case .note(let event): events.append(event)
        }
    }
}
