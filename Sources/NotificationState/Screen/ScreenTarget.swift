package import NotificationModel

/// One target of a key's notifications: a device of the recipient or, where none is known, all that the gateway knows. It says
/// what the target shows, and decides what must happen there next.
///
/// What is *known* is a set of possibilities: `sure` (or nothing, when that is nil), and each of `maybes`. Doubt belongs here and
/// nowhere else: an attempt without an answer adds a possibility, and an answer removes all but one.
package struct ScreenTarget: Sendable, Hashable {
    /// Possibilities that are kept beside `sure`; the oldest are forgotten first.
    package static let maximumMaybes = 8

    /// The channel that reaches it.
    package var channel: ChannelName
    /// The device's name; nil for all that the gateway knows.
    package var device: String?
    /// What it shows if it does not show one of `maybes`; nil for nothing.
    package var sure: Showing?
    /// What attempts without an answer may have put there; the oldest first.
    package var maybes: [Showing]
    /// The newest notification, if the target has refused it.
    package var refused: Showing?
    /// Why; nil when all attempts were used up.
    package var refusal: ReasonCode?
    /// Whether it goes on showing what it showed when it refused that, until a removal or the next notification.
    package var isLeft = false
    /// How it was reached when it left: its registration may be forgotten before it has removed what it shows.
    @Boxed package var formerly: DeviceRegistration?
    /// Of what that it shows it got less.
    package var reduced: [ReducedPart] = []
    /// Whether an attempt without an answer may have removed all that it may show: an update of a Live Activity would be accepted, and
    /// show nothing. Nil when that is not so.
    package var doubtedEnd: DoubtedEnd?

    /// What has followed an end without an answer.
    package enum DoubtedEnd: String, CaseIterable, Sendable, Hashable {
        /// Nothing yet.
        case open
        /// A push was to start another Live Activity, and nothing is known of that. Until more is known the token that is registered ends
        /// the former one; the next that is registered is of the other.
        case startedAgain
    }

    /// A target that shows nothing, or surely shows something.
    package init(_ channel: ChannelName, _ device: String?, shows sure: Showing? = nil, maybes: [Showing] = []) {
        (self.channel, self.device, self.sure, self.maybes) = (channel, device, sure, maybes)
    }

    /// Whether it may show an occurrence, in whatever round.
    package func mayShow(_ showing: Showing) -> Bool {
        sure.map(showing.isSameOccurrence) ?? false || maybes.contains(where: showing.isSameOccurrence)
    }

    /// Whether it shows an occurrence and nothing else, in whatever round.
    package func surelyShows(_ showing: Showing) -> Bool {
        maybes.isEmpty && sure?.isSameOccurrence(as: showing) ?? false
    }

    /// Whether an attempt without an answer may have put an occurrence there.
    package func isInDoubt(_ showing: Showing) -> Bool { maybes.contains(where: showing.isSameOccurrence) }

    /// Whether it may show anything.
    package var mayShowAnything: Bool { sure != nil || !maybes.isEmpty }

    // MARK: - What is wanted

    /// What is wanted on a target.
    package struct Wanted: Sendable, Hashable {
        /// What is on its way there; nil when nothing is.
        package var coming: Showing?
        /// Whether an attempt at it may begin: it does not wait for its next one.
        package var comesNow: Bool
        /// What the events say that it shows; nil for nothing.
        package var base: Showing?
        /// Whether the content of `base` is kept, so that it can be delivered again.
        package var isRestorable: Bool
        /// What waits and may be there already: it stays until that ends.
        package var waiting: [Showing]

        /// By default nothing.
        package init(
            coming: Showing? = nil,
            comesNow: Bool = false,
            base: Showing? = nil,
            isRestorable: Bool = true,
            waiting: [Showing] = []
        ) {
            (self.coming, self.comesNow, self.base) = (coming, comesNow, base)
            (self.isRestorable, self.waiting) = (isRestorable, waiting)
        }
    }

    /// The operation that leads from what is known to what is wanted.
    package enum Step: Sendable, Hashable {
        /// What is known is what is wanted, or what is on its way replaces it soon.
        case none
        /// Deliver what is on its way.
        case show(Showing)
        /// Deliver again, quietly, what the events say that it shows.
        case restore(Showing)
        /// Remove whatever it shows.
        case remove
    }

    /// The next operation, when none is in flight.
    ///
    /// While the next attempt at a notification is awaited, the target may show that one, what the events say, or nothing; what is
    /// none of these is removed at once, and does not wait for the attempt.
    package func step(toward wanted: Wanted) -> Step {
        if let coming = wanted.coming, wanted.comesNow, !surelyShows(coming) { return .show(coming) }
        if isLeft, maybes.isEmpty, wanted.coming == nil { return .none }
        func isTolerated(_ showing: Showing) -> Bool {
            wanted.base.map(showing.isSameOccurrence) ?? false || wanted.coming.map(showing.isSameOccurrence) ?? false
                || wanted.waiting.contains(where: showing.isSameOccurrence)
        }
        // What cannot be delivered again stays away.
        let isNothingTolerated = wanted.base == nil || wanted.coming != nil || !wanted.isRestorable
        if sure.map(isTolerated) ?? isNothingTolerated, maybes.allSatisfy(isTolerated) { return .none }
        guard let base = wanted.base, wanted.isRestorable else { return .remove }
        return .restore(base)
    }

    // MARK: - What becomes known

    /// It shows something for certain, or nothing. What it has refused it does not show for that: it does not get it again.
    package mutating func settle(_ showing: Showing?) {
        (sure, maybes, reduced, isLeft, doubtedEnd) = (showing, [], [], false, nil)
        if showing == nil { formerly = nil }
        if let showing, hasRefused(showing) { endRefusal() }
    }

    /// It refuses the newest notification.
    ///
    /// - Parameters:
    ///   - shown: what the events say that it shows: that stays.
    ///   - reason: why; nil when all attempts are used up.
    package mutating func refuse(_ showing: Showing, showing shown: Showing?, because reason: ReasonCode? = nil) {
        isLeft = isLeft || shown.map { sure?.isSameOccurrence(as: $0) ?? false } ?? false
        (refused, refusal) = (showing, reason)
    }

    /// Whether it has refused an occurrence.
    package func hasRefused(_ showing: Showing) -> Bool { refused?.isSameOccurrence(as: showing) ?? false }

    /// What it has refused does not count any more.
    package mutating func endRefusal() { (refused, refusal, isLeft) = (nil, nil, false) }

    /// It does not show a notification any more, if it did.
    package mutating func end(_ showing: Showing) {
        if sure?.isSameOccurrence(as: showing) ?? false { sure = nil }
        maybes.removeAll(where: showing.isSameOccurrence)
    }

    /// An attempt without an answer may have put a notification there.
    package mutating func doubt(_ showing: Showing) {
        maybes.removeAll { $0 == showing }
        if maybes.count >= Self.maximumMaybes { maybes.removeFirst() }
        maybes.append(showing)
    }

    /// An attempt without an answer may have removed all that it may show.
    package mutating func doubtEnd() {
        doubtedEnd = mayShowAnything ? doubtedEnd ?? .open : nil
        doubtRemoval()
    }

    /// What it shows may be there no more.
    package mutating func doubtRemoval() {
        guard let sure else { return }
        self.sure = nil
        if !maybes.contains(sure) { maybes.insert(sure, at: 0) }
    }

    /// It may also show what another target shows or may show.
    ///
    /// - Parameter isAddition: whether the other one says nothing of what this one shows.
    package mutating func inherit(_ other: ScreenTarget, isAddition: Bool = false) {
        for maybe in other.maybes { doubt(maybe) }
        guard sure != other.sure, !isAddition || other.sure != nil else { return }
        if !isAddition { doubtRemoval() }
        if let theirs = other.sure { doubt(theirs) }
    }
}
