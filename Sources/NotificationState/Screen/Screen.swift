package import NotificationDelivery
package import NotificationModel

/// What the targets of a key show, and the operations that change it.
///
/// A target that is not listed shows for certain what the entry's `delivered` says: that notification if it is one of its devices,
/// and nothing if not. So an entry whose targets all do has no screen.
///
/// The rules:
/// 1. A target has at most one operation in flight.
/// 2. When none is, and what is known differs from what is wanted (``ScreenTarget/step(toward:)``), one begins.
/// 3. What waits for its next attempt is dropped as soon as it is not wanted any more.
///
/// A value: it knows nothing of contents, times of retries or events.
package struct Screen: Sendable, Hashable {
    /// Whether one operation of a channel concerns all targets that want the same, or each has its own.
    package enum Grouping: Sendable, Hashable {
        /// One for all; the operations of a key never overlap.
        case all
        /// One for each.
        case each
    }

    /// The targets of which something else is known than `delivered` says, or for which something is planned.
    package var targets: [ScreenTarget] = []
    /// What is in flight, or waits for its next attempt.
    package var operations: [ScreenOperation] = []
    /// The removal of which something is still to be told.
    @Boxed package var removal: OpenRemoval?

    /// A screen without targets.
    package init() {}

    init(_ operation: ScreenOperation) { operations = [operation] }

    /// Whether nothing differs from what `delivered` says.
    package var isEmpty: Bool { targets.isEmpty && operations.isEmpty && !isRemoving }

    /// Whether something of a removal is still to be told; copies nothing.
    package var isRemoving: Bool { _removal.isPresent }

    /// Drops targets of which nothing needs to be known.
    package mutating func dropTargets(where isNeedless: (ScreenTarget) -> Bool) { targets.removeAll(where: isNeedless) }

    // MARK: - Finding

    /// The place of a target; nil when it is not listed.
    package func place(of device: String?, on channel: ChannelName) -> Int? {
        targets.firstIndex { target in
            guard target.channel == channel else { return false }
            guard let device, let name = target.device else { return device == nil && target.device == nil }
            return name.hasSameUTF8(as: device)
        }
    }

    /// Lists a target that was not listed.
    ///
    /// - Parameter known: what it shows as the entry's `delivered` says.
    /// - Returns: its place.
    @discardableResult
    package mutating func list(_ device: String?, on channel: ChannelName, showing known: Showing?) -> Int {
        if let place = place(of: device, on: channel) { return place }
        targets.append(ScreenTarget(channel, device, shows: known))
        return targets.count - 1
    }

    /// Whether any target may show an occurrence.
    package func mayShow(_ showing: Showing) -> Bool { targets.contains { $0.mayShow(showing) } }

    /// Whether an attempt without an answer may have shown an occurrence.
    package func isInDoubt(_ showing: Showing) -> Bool { targets.contains { $0.isInDoubt(showing) } }

    /// Whether an attempt has no answer yet.
    package var isInFlight: Bool { operations.contains(where: \.isInFlight) }

    /// Whether an attempt at an occurrence that is on its way has no answer yet.
    package func isInFlight(_ showing: Showing) -> Bool {
        operations.contains { $0.isInFlight && $0.delivers(showing) }
    }

    /// Whether an operation delivers an occurrence that is on its way.
    package func isDelivering(_ showing: Showing) -> Bool { operations.contains { $0.delivers(showing) } }

    /// Whether an attempt may show an occurrence once more where one without an answer may have shown it.
    ///
    /// - Parameter device: where; nil for anywhere.
    package func mayRepeat(_ showing: Showing, on device: String?) -> Bool {
        targets.contains { target in
            guard target.isInDoubt(showing) else { return false }
            if let device, let name = target.device, !name.hasSameUTF8(as: device) { return false }
            return operations.contains { $0.delivers(showing) && $0.concerns(target) }
        }
    }

    /// When an attempt is due that nothing in flight holds back.
    package func nextAttempt(_ grouping: (ChannelName) -> Grouping?) -> Timestamp? {
        var next: Timestamp?
        for operation in operations {
            guard let time = operation.nextAttempt, next.map({ time < $0 }) ?? true, !isBlocked(operation, grouping)
            else { continue }
            next = time
        }
        return next
    }

    /// Whether something in flight must end before an operation begins.
    private func isBlocked(_ operation: ScreenOperation, _ grouping: (ChannelName) -> Grouping?) -> Bool {
        operations.contains { $0.isInFlight && $0.overlaps(operation, grouping(operation.channel) ?? .all) }
    }

    // MARK: - What is wanted

    /// What surrounds new operations.
    package struct Cause {
        /// What an operation carries of its cause.
        package struct Origin {
            /// Where it stands among the operations of the key.
            package var sequence: OperationSequence
            /// The trace of the cause.
            package var trace: CarriedTrace
            /// The removal, response or request that caused it.
            package var id: RequestID?

            /// An origin.
            package init(sequence: OperationSequence, trace: CarriedTrace, id: RequestID? = nil) {
                (self.sequence, self.trace, self.id) = (sequence, trace, id)
            }
        }

        /// Now.
        package var now: Timestamp
        /// Of operations that deliver what is on its way.
        package var coming: Origin
        /// Of operations that bring targets back to what the events say.
        package var correction: Origin
        /// When these begin at the earliest.
        package var correctionStart: Timestamp

        /// A cause.
        package init(now: Timestamp, coming: Origin, correction: Origin, correctionStart: Timestamp) {
            (self.now, self.coming, self.correction) = (now, coming, correction)
            self.correctionStart = correctionStart
        }
    }

    /// Drops what is not wanted any more, adds what is, and says what may begin.
    ///
    /// - Parameters:
    ///   - cause: of what is added.
    ///   - grouping: of the channels.
    ///   - wanted: on each target, in their order; `comesNow` is decided here.
    /// - Returns: the places of the operations that begin now: none concerns a target of another, and of a channel with
    ///   ``Grouping/all`` there is one at most.
    package mutating func plan(
        for cause: Cause,
        _ grouping: (ChannelName) -> Grouping?,
        wanted: [ScreenTarget.Wanted]
    ) -> [Int] {
        // While it was in flight, its targets may have been given other names: it would wait for its next attempt for ever.
        operations.removeAll { operation in !operation.isInFlight && !targets.contains { operation.concerns($0) } }
        var additions: [ScreenOperation] = []
        for (target, var wanted) in zip(targets, wanted) {
            guard grouping(target.channel) != nil else {
                drop(for: target) { _ in true }
                continue
            }
            dropUnwanted(for: target, wanted)
            guard !operations.contains(where: { $0.isInFlight && $0.concerns(target) }) else { continue }
            wanted.comesNow = comesNow(wanted.coming, to: target, at: cause.now)
            let step = target.step(toward: wanted)
            if case .show = step { drop(for: target) { $0.isCorrection } }
            guard step != .none, !isPlanned(step, for: target) else { continue }
            add(step, for: target, cause, grouping, to: &additions)
        }
        operations += additions
        var ready: [Int] = []
        for (place, operation) in operations.enumerated() {
            guard let time = operation.nextAttempt, time <= cause.now, !isBlocked(operation, grouping),
                !ready.contains(where: { operations[$0].overlaps(operation, grouping(operation.channel) ?? .all) })
            else { continue }
            ready.append(place)
        }
        return ready
    }

    /// Whether an attempt at what is on its way to a target may begin: its first one, or the next one is due.
    private func comesNow(_ coming: Showing?, to target: ScreenTarget, at now: Timestamp) -> Bool {
        guard let coming else { return false }
        let planned = operations.first { $0.delivers(coming) && $0.concerns(target) }
        return planned?.nextAttempt.map { $0 <= now } ?? true
    }

    /// Takes a target out of what waits and is not wanted there any more.
    private mutating func dropUnwanted(for target: ScreenTarget, _ wanted: ScreenTarget.Wanted) {
        guard !operations.isEmpty else { return }
        let correction = target.step(toward: wanted)
        for place in operations.indices {
            // What was taken away meanwhile is another round.
            if let coming = wanted.coming, operations[place].delivers(coming) {
                operations[place].goal = .show(coming)
            }
        }
        drop(for: target) { operation in
            switch operation.goal {
            case .remove: return correction != .remove
            case .show(let showing) where operation.isQuiet:
                guard case .restore(let base) = correction else { return true }
                return !showing.isSameOccurrence(as: base)
            case .show: return !(wanted.coming.map(operation.shows) ?? false)
            }
        }
    }

    private mutating func drop(for target: ScreenTarget, where isNeedless: (ScreenOperation) -> Bool) {
        operations.removeAll { operation in
            guard !operation.isInFlight, operation.concerns(target), isNeedless(operation) else { return false }
            guard let device = target.device else { return true }
            return operation.devices.count == 1 && operation.devices[0].hasSameUTF8(as: device)
        }
        guard let device = target.device else { return }
        for place in operations.indices
        where !operations[place].isInFlight && operations[place].concerns(target) && isNeedless(operations[place]) {
            operations[place].devices.removeUTF8(of: device)
        }
    }

    /// Whether a step waits already; while one is in flight nothing is added.
    private func isPlanned(_ step: ScreenTarget.Step, for target: ScreenTarget) -> Bool {
        operations.contains { operation in
            guard operation.concerns(target) else { return false }
            switch step {
            case .none: return true
            case .show(let coming): return operation.delivers(coming)
            case .restore(let base): return operation.isQuiet && operation.shows(base)
            case .remove: return operation.goal == .remove
            }
        }
    }

    private func add(
        _ step: ScreenTarget.Step,
        for target: ScreenTarget,
        _ cause: Cause,
        _ grouping: (ChannelName) -> Grouping?,
        to additions: inout [ScreenOperation]
    ) {
        let goal: ScreenOperation.Goal
        switch step {
        case .none: return
        case .show(let coming): goal = .show(coming)
        case .restore(let base): goal = .show(base.again)
        case .remove: goal = .remove
        }
        var isQuiet = false
        if case .restore = step { isQuiet = true }
        let removes = goal == .remove ? target.maybes + (target.sure.map { [$0] } ?? []) : []
        if let device = target.device, grouping(target.channel) == .all,
            let same = additions.firstIndex(where: {
                $0.channel == target.channel && $0.goal == goal && $0.isQuiet == isQuiet && !$0.devices.isEmpty
            })
        {
            additions[same].devices.append(device)
            for showing in removes where !additions[same].removes.contains(showing) {
                additions[same].removes.append(showing)
            }
            return
        }
        var isCorrection = true
        if case .show = step { isCorrection = false }
        let origin = isCorrection ? cause.correction : cause.coming
        additions.append(
            ScreenOperation(
                goal,
                isQuiet: isQuiet,
                channel: target.channel,
                devices: target.device.map { [$0] } ?? [],
                removes: removes,
                at: isCorrection ? cause.correctionStart : cause.now,
                sequence: origin.sequence,
                trace: origin.trace,
                cause: origin.id
            )
        )
    }

    // MARK: - Answers

    /// What is known of an attempt.
    package enum Answer: Sendable, Hashable {
        /// The targets did it.
        case accepted
        /// They never will: why, or nil when all attempts are used up.
        case refused(ReasonCode?)
        /// They may have done it.
        case unanswered
        /// They have not done it.
        case failed
    }

    /// Takes the operation of an attempt out, for its answer.
    ///
    /// - Returns: nil when no such attempt is in flight: its answer is late.
    package mutating func take(_ id: UUIDValue, attempt: Int) -> ScreenOperation? {
        guard let place = operations.firstIndex(where: { $0.isInFlight && $0.id == id && $0.attempt == attempt }) else {
            return nil
        }
        return operations.remove(at: place)
    }

    /// Notes what targets show after an attempt. A removal that is refused for good ends what is known: nothing more can be done.
    ///
    /// - Parameter shown: what the events say that a target shows.
    package mutating func note(
        _ answer: Answer,
        of operation: ScreenOperation,
        shown: (ScreenTarget) -> Showing? = { _ in nil }
    ) {
        for place in targets.indices where operation.concerns(targets[place]) {
            switch (answer, operation.showing) {
            case (.accepted, let showing): targets[place].settle(showing)
            case (.refused(let reason), let showing?):
                targets[place].refuse(showing, showing: shown(targets[place]), because: reason)
            case (.refused, nil): targets[place].settle(nil)
            case (.unanswered, let showing?): targets[place].doubt(showing)
            case (.unanswered, nil): targets[place].doubtEnd()
            case (.failed, _): break
            }
        }
    }

    /// Notes of what its targets got less.
    package mutating func note(_ reduced: [ReducedPart], of operation: ScreenOperation) {
        for place in targets.indices where operation.concerns(targets[place]) { targets[place].reduced = reduced }
    }

    /// No attempt at a notification begins before an instant.
    package mutating func hold(_ showing: Showing, until end: Timestamp) {
        for place in operations.indices where operations[place].delivers(showing) && !operations[place].isInFlight {
            operations[place].phase = .waiting(until: end)
        }
    }

    /// What waits to show a notification is another operation from now on: something else was done on its targets.
    package mutating func renew(_ showing: Showing, after sequence: OperationSequence) {
        var next = sequence
        next.time = sequence.time.adding(milliseconds: 1)
        for place in operations.indices where operations[place].delivers(showing) {
            guard !operations[place].isInFlight else { continue }
            operations[place].goal = .show(showing.again)
            operations[place].sequence = max(operations[place].sequence, next)
            operations[place].timestamp = nil
        }
    }

    /// What waits for the token of a Live Activity on its device begins.
    ///
    /// - Parameter start: of removals, whose decision may not be committed yet.
    /// - Returns: whether anything waits.
    package mutating func endWait(forTokenOf device: String, at now: Timestamp, removingAt start: Timestamp) -> Bool {
        var isFound = false
        for place in operations.indices
        where operations[place].awaitsToken && operations[place].devices.containsUTF8(of: device) {
            operations[place].awaitsToken = false
            operations[place].phase = .waiting(until: operations[place].goal == .remove ? start : now)
            isFound = true
        }
        return isFound
    }

    /// A Live Activity is over on its device: it shows nothing there.
    ///
    /// - Returns: whether it may have shown anything.
    package mutating func end(on device: String) -> Bool {
        var isFound = false
        for place in targets.indices
        where targets[place].mayShowAnything && targets[place].device.map({ $0.hasSameUTF8(as: device) }) ?? false {
            (targets[place].sure, targets[place].maybes) = (nil, [])
            (targets[place].isLeft, targets[place].doubtedEnd) = (false, nil)
            isFound = true
        }
        return isFound
    }

    /// A correction that was never tried begins: where it stands among the operations of the key is decided now, and what it removes.
    package mutating func refreshCorrection(at place: Int, _ sequence: OperationSequence) {
        operations[place].sequence = max(operations[place].sequence, sequence)
        guard operations[place].goal == .remove else { return }
        var removes: [Showing] = []
        for target in targets where operations[place].concerns(target) {
            for showing in target.maybes + (target.sure.map { [$0] } ?? []) where !removes.contains(showing) {
                removes.append(showing)
            }
        }
        if !removes.isEmpty { operations[place].removes = removes }
    }

    /// The owner has ended: what was in flight, or may have begun since, is an attempt without an answer, and its operation goes
    /// on.
    ///
    /// - Parameter instant: until when the former owner may have begun attempts.
    package mutating func restart(at now: Timestamp, mayHaveBegunThrough instant: Timestamp) {
        for place in operations.indices {
            // What an owner before did after it, and did not commit, may have a later timestamp: the phone would ignore the end.
            if operations[place].goal == .remove, let timestamp = operations[place].timestamp {
                operations[place].timestamp = max(timestamp, max(now, instant).rawValue / 1000)
            }
            if let next = operations[place].nextAttempt {
                if next <= instant { note(.unanswered, of: operations[place]) }
            } else {
                note(.unanswered, of: operations[place])
                operations[place].wait(until: now, isTried: true)
            }
        }
    }

    // MARK: - Targets that come and go

    /// Whether devices are among the targets of a channel.
    package func isSpread(on channel: ChannelName) -> Bool {
        targets.contains { $0.channel == channel && $0.device != nil }
    }

    /// Devices are known now: each may show what all that the gateway knows may show.
    ///
    /// - Parameter isKept: whether more of them may become known.
    package mutating func spread(
        over devices: [(name: String, shows: Showing?)],
        on channel: ChannelName,
        isKept: Bool
    ) {
        guard !devices.isEmpty, let place = place(of: nil, on: channel) else { return }
        let all = targets[place]
        if !isKept { targets.remove(at: place) }
        operations.removeAll { $0.concerns(all) && !$0.isInFlight }
        for (name, known) in devices {
            if let place = self.place(of: name, on: channel) {
                targets[place].inherit(all, isAddition: true)
            } else {
                targets.append(ScreenTarget(channel, name, shows: all.sure ?? known, maybes: all.maybes))
            }
        }
    }

    /// No device is known any more: all that the gateway knows may show what each of them may.
    package mutating func gather(on channel: ChannelName) {
        let named = targets.filter { $0.channel == channel && $0.device != nil }
        guard let first = named.first else { return }
        targets.removeAll { $0.channel == channel && $0.device != nil }
        operations.removeAll { !$0.isInFlight && $0.channel == channel && !$0.devices.isEmpty }
        if place(of: nil, on: channel) == nil {
            var all = first
            all.device = nil
            targets.append(all)
        }
        guard let place = place(of: nil, on: channel) else { return }
        for target in named { targets[place].inherit(target) }
    }

    /// The app of a device is gone, and all that it showed.
    package mutating func forget(_ device: String) {
        for target in targets where target.device.map({ $0.hasSameUTF8(as: device) }) ?? false {
            drop(for: target) { _ in true }
        }
        targets.removeAll { $0.device.map { $0.hasSameUTF8(as: device) } ?? false }
    }

    /// Another notification is delivered, or the last one removed: what targets have refused does not count any more.
    package mutating func endRefusals() {
        for place in targets.indices { targets[place].endRefusal() }
    }

    /// Whether more is known of a target than `delivered` says, or something waits for it.
    ///
    /// - Parameters:
    ///   - coming: what is on its way: that a target has refused it is not forgotten before it has ended.
    ///   - known: what `delivered` says that it shows.
    package func isNeeded(_ target: ScreenTarget, _ coming: Showing?, showing known: Showing?) -> Bool {
        if !target.maybes.isEmpty || coming.map(target.hasRefused) ?? false { return true }
        let isAsKnown = known.map { target.sure?.isSameOccurrence(as: $0) ?? false } ?? (target.sure == nil)
        return !isAsKnown || operations.contains { $0.concerns(target) }
    }
}

extension ScreenOperation {
    /// Whether it brings a target back to what the events say.
    package var isCorrection: Bool { isQuiet || goal == .remove }

    /// Whether it delivers an occurrence that is on its way.
    package func delivers(_ showing: Showing) -> Bool { !isQuiet && shows(showing) }

    fileprivate func shows(_ showing: Showing) -> Bool { self.showing?.isSameOccurrence(as: showing) ?? false }

    fileprivate func overlaps(_ other: ScreenOperation, _ grouping: Screen.Grouping) -> Bool {
        guard channel == other.channel else { return false }
        switch grouping {
        case .all: return true
        case .each:
            return devices.isEmpty || other.devices.isEmpty || devices.contains(where: other.devices.containsUTF8)
        }
    }
}
