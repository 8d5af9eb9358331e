/// What an open request waits for: the values of the label `state` of the metric `open`.
package enum OpenState: UInt8, CaseIterable, Sendable {
    /// The next occurrence of its trigger, or the end of quiet hours that hold that occurrence back.
    case scheduled = 1
    /// A device that crosses the boundary of its region.
    case region
    /// The end of its collapse window or of quiet hours.
    case held
    /// The end of its digest's window.
    case digest
    /// The end of what is being sent under the same identifier, or of the backlog that is being read.
    case queued
    /// Its enrichment.
    case enriching
    /// The answer of a channel, or the next attempt.
    case sending

    /// The value of the label.
    package var name: String { "\(self)" }
}

/// The open requests of one entry: their closing events are not published yet. There are two at most: one that waits, and one
/// that is on its way under the same identifier. Of a repeating request only the wait counts: an occurrence closes nothing.
package struct OpenRequests: Sendable, Hashable {
    /// The state of the one that waits in the low three bits, and of the one on its way in the next three; 0 for none.
    package let rawValue: UInt8

    /// None.
    package static let none = OpenRequests(waiting: nil, sent: nil)

    /// - Parameters:
    ///   - waiting: the state of the one that waits; nil for none.
    ///   - sent: the state of the one that is on its way; nil for none.
    package init(waiting: OpenState?, sent: OpenState?) {
        rawValue = (waiting?.rawValue ?? 0) | (sent?.rawValue ?? 0) << 3
    }

    /// - Returns: nil for bits that mean nothing.
    package init?(rawValue: UInt8) {
        self.rawValue = rawValue
        guard rawValue < 64, rawValue & 7 == 0 || waiting != nil, rawValue >> 3 == 0 || sent != nil else { return nil }
    }

    /// The state of the one that waits.
    package var waiting: OpenState? { OpenState(rawValue: rawValue & 7) }
    /// The state of the one that is on its way.
    package var sent: OpenState? { OpenState(rawValue: rawValue >> 3) }
}

/// Numbers of open requests by state.
package struct OpenCounts: Sendable, Hashable {
    private var numbers = SIMD8<Int>()

    package init() {}

    package subscript(state: OpenState) -> Int { numbers[Int(state.rawValue)] }

    /// Over all states.
    package var total: Int { OpenState.allCases.reduce(0) { $0 + self[$1] } }

    /// Adds the requests of entries.
    ///
    /// - Parameter number: of entries that are alike; below 0 takes them away.
    package mutating func add(_ open: OpenRequests, _ number: Int = 1) {
        if let waiting = open.waiting { numbers[Int(waiting.rawValue)] += number }
        if let sent = open.sent { numbers[Int(sent.rawValue)] += number }
    }

    package static func += (counts: inout Self, more: Self) { counts.numbers &+= more.numbers }
}

extension StateEntry {
    /// Its open requests.
    package var open: OpenRequests { OpenRequests(waiting: pending?.timer.openState, sent: handover?.openState) }
}

extension StateEntry.Timer {
    fileprivate var openState: OpenState {
        switch self {
        case .scheduled: .scheduled
        case .region: .region
        case .held: .held
        case .digest: .digest
        case .turn: .queued
        }
    }
}

extension StateEntry.Handover {
    /// Nil when its request stays open without it, or is closed.
    fileprivate var openState: OpenState? {
        guard closes, !isClosed else { return nil }
        return isBeingEnriched ? .enriching : .sending
    }
}
