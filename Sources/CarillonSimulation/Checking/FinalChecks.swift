import NotificationModel

/// The checks after all work is done: every request is counted.
extension Observer {
    /// - Parameters:
    ///   - isEnd: everything was removed: no notification may be pending any more.
    ///   - horizon: notifications due later may be pending; nil if the run waited for all of them.
    ///   - state: for a run that ends with all instances stopped: requests after its markers count as unread, and requests
    ///     in its entries as pending.
    func checkCounting(
        isEnd: Bool,
        isExactlyOnce: Bool,
        horizon: Timestamp? = nil,
        asOf state: StateObserver? = nil
    ) throws(Violation) {
        func isRead(_ place: Place) -> Bool { state.map { place.offset < $0.resumption(place.partition) } ?? true }
        for id in model.order where !lost.contains(id) {
            guard let entry = model.requests[id], let key = entry.record.key else { continue }
            let name = "\(id.text.prefix(8)) \(key.text) at \(entry.record.place)"
            guard isRead(entry.record.place) else {
                // Without transactions the events are written before the marker.
                guard !isExactlyOnce || events(of: id).isEmpty else {
                    throw Violation(.state, "\(name) has an event, but according to the marker it was not read")
                }
                continue
            }
            let isForChannel = state?.isForChannel(id, of: key, in: entry.record.partition) ?? false
            guard isForChannel || !events(of: id).isEmpty else { throw Violation(.nothingLost, "\(name) has no event") }
            guard closings[id] == nil else { continue }
            if let state {
                guard state.holds(id, of: key, in: entry.record.partition) else {
                    throw Violation(.nothingLost, "\(name) is neither closed nor in the changelog")
                }
                continue
            }
            let isLater = horizon.map { entry.request.nominal(from: entry.record.timestamp) > $0 } ?? false
            let waits = !isEnd && (entry.request.mayStay || isLater) && model.mayWait(key, before: .max) == id
            guard waits else { throw Violation(.nothingLost, "\(name) is not closed") }
        }
        for (place, reason) in model.bad.sorted(by: { $0.key < $1.key })
        where isRead(place) && deadLetters[place] == nil {
            throw Violation(.deadLetters, "\(place) (\(reason.rawValue)) is not among them")
        }
        try checkRemovals(isRead, asOf: state)
        try checkOccurrences(isExactlyOnce: isExactlyOnce)
    }

    /// A bad record without a dead letter.
    var unburied: Place? { model.bad.keys.first { deadLetters[$0] == nil } }

    /// Every removal removed something, or its `cancellation.missed` was published.
    private func checkRemovals(_ isRead: (Place) -> Bool, asOf state: StateObserver?) throws(Violation) {
        for (id, record) in model.removals.sorted(by: { $0.key.text < $1.key.text }) where !answered.contains(id) {
            guard isRead(record.place) else { continue }
            if let state, let key = record.key, state.isAwaited(id, of: key, in: record.partition) { continue }
            throw Violation(.removalAnswered, "\(id.text.prefix(8)) at \(record.place)")
        }
    }

    /// There is no gap between the occurrences of a repeating notification that were delivered, missed or failed.
    private func checkOccurrences(isExactlyOnce: Bool) throws(Violation) {
        try checkCrossings()
        for id in model.order {
            guard let entry = model.requests[id], entry.request.repeats, !entry.request.isOfRegion else { continue }
            var seen: [Int64: Int] = [:]
            for observed in events(of: id) {
                let event = observed.event
                switch event.name {
                case .delivered, .failed, .superseded, .cancelled, .expired, .suppressed:
                    guard let occurrence = event.occurrence else { continue }
                    seen[model.number(of: occurrence, entry), default: 0] += 1
                case .missed:
                    guard let first = event.first, let last = event.last else { continue }
                    let range = model.number(of: first, entry)...model.number(of: last, entry)
                    guard Int64(event.count ?? 0) == range.upperBound - range.lowerBound + 1 else {
                        throw Violation(.occurrences, "\(observed.text) counts \(event.count ?? 0)")
                    }
                    for occurrence in range { seen[occurrence, default: 0] += 1 }
                default: break
                }
            }
            for (index, (occurrence, times)) in seen.sorted(by: { $0.key < $1.key }).enumerated() {
                guard occurrence == Int64(index) + 1 else {
                    throw Violation(.occurrences, "\(id.text.prefix(8)): \(index + 1) is neither delivered nor missed")
                }
                guard times == 1 || !isExactlyOnce else {
                    throw Violation(.occurrences, "\(id.text.prefix(8)): \(occurrence) comes \(times) times")
                }
            }
        }
    }

    /// The instants at which a notification was sent or missed for a crossing.
    private func crossings(of id: RequestID) -> Set<Timestamp> { Set(events(of: id).compactMap(\.event.occurrence)) }

    /// No notification has more crossings than its devices have.
    private func checkCrossings() throws(Violation) {
        for id in model.order {
            guard let fixes = model.fixes, let entry = model.requests[id], entry.request.isOfRegion else { continue }
            let (sent, possible) = (
                crossings(of: id).count, fixes.crossings(entry.request, entry.record.key?.recipient ?? "").count
            )
            guard sent <= possible else {
                throw Violation(.occurrences, "\(id.text.prefix(8)) has \(sent) of \(possible) crossings")
            }
        }
    }

    /// All crossings of a run.
    var crossings: Int {
        model.order.reduce(0) { $0 + (model.requests[$1]?.request.isOfRegion == true ? crossings(of: $1).count : 0) }
    }
}
