import NotificationModel
import NotificationState

/// What one record changes in many entries of a recipient: a removal of everything, the end of a device or of its permission,
/// a move to another time zone.
///
/// It is applied in pieces, so that no checkpoint becomes too large. Each piece is committed with the position before the
/// record, so a new owner that reads it again continues with the remaining entries: those that are done are not changed again.
/// The recipient's record changes with the last piece. Meanwhile the partition applies no other input and fires no timer.
struct Procedure {
    /// About the bytes that one piece adds to a cut, at most by its last entry more.
    static let bytesPerPiece = 1 << 20

    /// A way through the entries.
    enum Task {
        /// The removal of everything.
        case removal(CenterInput.Removal)
        /// Devices that leave, or may not show notifications any more.
        case departure(Departure)
        /// Calendar triggers without a time zone follow the recipient's.
        case move(to: TimeZoneRules, mayHaveBeenSent: Bool)
    }

    /// Of devices.
    struct Departure {
        /// Their names.
        var devices: [String]
        /// Of the cause.
        var id: RequestID
        var trace: CarriedTrace
    }

    let input: CenterInput
    /// With an empty identifier.
    let recipient: NotificationKey
    var tasks: ArraySlice<Task>
    var walk: EntryWalk
    let reading: PartitionCenter.Reading
    /// Whether an entry was found so far.
    var found = false
    /// By device that leaves: the identifiers under which it showed something, as far as an event has room.
    private(set) var shown: [String: [String]] = [:]
    var shownRoom = 32 * 1024

    fileprivate mutating func note(_ identifier: String, shownOn devices: [String]) {
        for device in devices {
            shownRoom -= identifier.utf8.count
            if shownRoom >= 0 { shown[device, default: []].append(identifier) }
        }
    }
}

extension PartitionCenter {
    /// Whether a procedure has to be continued by `proceed`.
    var isUnfinished: Bool { procedure != nil }

    /// Begins what an input changes in the entries of its recipient, with the first piece.
    mutating func begin(
        _ tasks: [Procedure.Task],
        of input: CenterInput,
        _ recipient: NotificationKey,
        at now: Timestamp,
        _ reading: Reading = .first
    ) throws -> CenterInput.Outcome {
        procedure = Procedure(
            input: input,
            recipient: recipient,
            tasks: tasks[...],
            walk: walk(of: recipient),
            reading: reading
        )
        return try proceed(at: now)
    }

    /// Applies the next piece of what is unfinished.
    ///
    /// - Returns: `unfinished`, or the outcome; after that its position may be committed.
    mutating func proceed(at now: Timestamp) throws -> CenterInput.Outcome {
        while let task = procedure?.tasks.first, var walk = procedure?.walk {
            switch task {
            case .removal(let removal): try remove(&walk, by: removal, at: now)
            case .departure(let departure): try leave(&walk, departure, at: now)
            case .move(let zone, let isDoubtful): try move(&walk, to: zone, mayHaveBeenSent: isDoubtful, at: now)
            }
            procedure?.walk = walk
            guard walk.isOver, let recipient = procedure?.recipient else { return .unfinished }
            procedure?.tasks.removeFirst()
            let next = self.walk(of: recipient)
            procedure?.walk = next
        }
        guard let done = procedure else { return .applied }
        procedure = nil
        switch done.input {
        case .removal(let removal): return try finish(removal, found: done.found, at: now, done.reading)
        case .registration(let input): return try apply(input, shown: done.shown, at: now)
        case .signal(let input): return try apply(input, shown: done.shown, at: now)
        case .request, .fix, .claim: return .applied
        }
    }

    // MARK: - Departures

    private mutating func leave(_ walk: inout EntryWalk, _ departure: Procedure.Departure, at now: Timestamp) throws {
        var needles: [[UInt8]]?
        if departure.devices.count == 1 {
            var name: [UInt8] = []
            JSONWriter.append(string: departure.devices[0], to: &name)
            needles = [name, Array("\"maybes\"".utf8)]
        }
        // What is under way is in memory.
        let isInDoubt = bench.conditions.isBacklogInDoubt
        func isWanted(_ entry: StateEntry) -> Bool {
            departure.devices.contains(where: entry.shows) || entry.isInDoubtOnAll || isInDoubt && entry.hasHandover
        }
        try visit(&walk, containing: needles, at: now, where: isWanted) { center, key in
            let devices = try center.turn(of: key, at: now, from: .clock) { turn in
                // The next owner would not know that they were the recipient's.
                turn.spreadOverDevices()
                let devices = departure.devices.filter {
                    turn.entry.shows(on: $0) || turn.mayHaveBeenAddressed(to: $0)
                }
                for device in devices { turn.leave(device, by: departure.id, departure.trace) }
                return devices
            }
            center.procedure?.note(key.identifier, shownOn: devices)
        }
    }

    /// While devices leave, no turn takes them for the recipient's: answers may come between the pieces.
    ///
    /// - Parameter isLeaving: false to show the record as it is again.
    func hideLeavingDevices(in record: inout RecipientRecord, of key: NotificationKey, isLeaving: Bool) {
        guard let procedure, case .departure(let departure)? = procedure.tasks.first,
            key.isSameRecipient(as: procedure.recipient)
        else { return }
        let (former, new): (Timestamp?, Timestamp?) = isLeaving ? (nil, .latest) : (.latest, nil)
        for place in record.registrations.indices
        where record.registrations[place].retiredAt == former
            && departure.devices.containsUTF8(of: record.registrations[place].name)
        {
            record.registrations[place].retiredAt = new
        }
    }
}

extension StateEntry {
    /// Whether an attempt without an answer may be on any device.
    fileprivate var isInDoubtOnAll: Bool {
        screen?.targets.contains { $0.device == nil && !$0.maybes.isEmpty } ?? false
    }

    /// Whether a device shows something under the key, or may show it.
    fileprivate func shows(on device: String) -> Bool {
        if delivered?.devices.containsUTF8(of: device) ?? false { return true }
        if handover?.devices?.containsUTF8(of: device) ?? false { return true }
        return screen?.targets.contains { target in
            target.mayShowAnything && target.device.map { $0.hasSameUTF8(as: device) } ?? false
        } ?? false
    }
}
